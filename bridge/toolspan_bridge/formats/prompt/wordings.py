"""How the tools are told of in words. Which wording serves a model is measured, not guessed:
``python -m benchmarks.prompt_wordings`` compares them.

A wording is a row of ``WORDINGS``; ``prompt.NAME:provider/model`` chooses one for a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..shared.json_values import compact
from ..shared.tools.compile import CompiledTools, WireTool

__all__ = ["DEFAULT", "WORDINGS", "Wording", "describe"]

_PATTERN = '<tool_call>\n{"name": "NAME", "arguments": {}}\n</tool_call>'


@dataclass(frozen=True, slots=True)
class Wording:
    """What stands ``before`` the tools and ``after`` them. ``as_json``: each tool is one line of JSON in
    ``<tools>``, as the templates of many models have it, in place of a section of its own.
    """

    before: str
    after: str = ""
    as_json: bool = False


_HOW = "To call a tool, end your answer with a block like this, one for each call, and wait for the result:"
_UNLESS = "When you need no tool, answer without a block."
_BY_SCHEMA = "The arguments are a JSON object by the tool's JSON Schema."

WORDINGS: dict[str, Wording] = {
    "rules-first": Wording(
        "# Tools\n\nYou can call the tools below. To call one, end your answer with a block like this, one "
        f"for each call:\n\n{_PATTERN}\n\n{_BY_SCHEMA} Results come in the next message, as\n<tool_result> "
        "blocks in the order of the calls: wait for them, never write them yourself. When you need no\ntool, "
        "answer without a block."
    ),
    "tools-first": Wording(
        "# Tools\n\nYou can call these tools:",
        f"# How to call a tool\n\n{_HOW}\n\n{_PATTERN}\n\n{_BY_SCHEMA} {_UNLESS}",
    ),
    "tools-first-brief": Wording("You have these tools:", f"{_HOW}\n\n{_PATTERN}\n\n{_UNLESS}"),
    "json-tools": Wording(
        "# Tools\n\nYou can call one or more of these tools, each described by a line of JSON:",
        f"{_HOW}\n\n{_PATTERN}\n\n{_UNLESS}",
        as_json=True,
    ),
}
"""The wordings by name."""

DEFAULT = "json-tools"
"""The wording of ``prompt:`` without a name."""


def describe(wording: Wording, tools: CompiledTools) -> str:
    """The part of the system prompt that tells of ``tools``; empty when there are none."""
    described = [tool["text"] for tool in tools.rendered(_line if wording.as_json else _section)]
    if not described:
        return ""
    if wording.as_json:
        described = ["\n".join(["<tools>", *described, "</tools>"])]
    return "\n\n".join(filter(None, (wording.before, *described, wording.after)))


def _section(tool: WireTool) -> dict[str, Any]:
    lines = (f"## {tool.name}", tool.description, f"Arguments: {compact(tool.schema)}")
    return {"text": "\n".join(filter(None, lines))}


def _line(tool: WireTool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"text": compact({"type": "function", "function": function})}
