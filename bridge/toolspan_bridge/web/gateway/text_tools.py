"""Tools of a client that take one text in place of a JSON object (OpenAI's ``custom`` tools)."""

from __future__ import annotations

import json

from ...messages import ToolCall, ToolSpec
from .reading import Fields

__all__ = ["text_call", "text_of_call", "text_tool"]

_SCHEMA = {
    "type": "object",
    "properties": {"input": {"type": "string", "description": "The whole input of the tool, as text."}},
    "required": ["input"],
    "additionalProperties": False,
}


def text_tool(tool: Fields) -> ToolSpec:
    """The tool that ``tool`` describes; its grammar, which nobody enforces here, is told of."""
    words = [tool.text("description")]
    form = tool.object("format")
    if form is not None and form.one_of("type", ("text", "grammar"), "text") == "grammar":
        grammar = form.object("grammar") or form
        words.append(
            f"The input must fit this {grammar.text('syntax')} grammar:\n\n{grammar.needed('definition')}"
        )
    return ToolSpec("", tool.needed("name"), "\n\n".join(filter(None, words)), _SCHEMA)


def text_call(call_id: str, name: str, text: str) -> ToolCall:
    """A call with ``text`` of an earlier turn, as the client sends it back."""
    arguments = {"input": text}
    return ToolCall(call_id, name, arguments, json.dumps(arguments))


def text_of_call(call: ToolCall) -> str:
    """The text that ``call`` was made with; where the model wrote no such object, what it wrote."""
    text = (call.arguments or {}).get("input")
    return text if isinstance(text, str) else call.raw
