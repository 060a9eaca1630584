"""More tools than are sent at once: they are put into namespaces, which the model searches for what it needs.

Of a namespace it sees name and description at first.

Source: the openai 3.54.0 client's ``namespace_tool_param`` and ``tool_search_tool_param``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from ...messages import ToolSpec
from ..names import NameTable, legal_name

TOOL_SEARCH: dict[str, Any] = {"type": "tool_search"}
MAX_IN_NAMESPACE = 100
MAX_DEFERRED = 10_000
_MAX_NAME = 60
_MAX_DESCRIPTION = 1_000


def namespaces(functions: Iterable[dict[str, Any]], names: NameTable) -> Iterator[dict[str, Any]]:
    """``functions`` by their servers, each with ``defer_loading``. Those that came into a conversation later
    have namespaces of their own, after the others."""
    used: set[str] = set()
    for (_, server), group in groupby(functions, key=lambda function: _place(function, names)):
        all_of_it = list(group)
        for start in range(0, len(all_of_it), MAX_IN_NAMESPACE):
            part = all_of_it[start : start + MAX_IN_NAMESPACE]
            yield {
                "type": "namespace",
                "name": _unused(legal_name(server)[:_MAX_NAME], used),
                "description": _description(server, part),
                "tools": [{**function, "defer_loading": True} for function in part],
            }


def _place(function: dict[str, Any], names: NameTable) -> tuple[int, str]:
    tool = names.tool(function["name"])
    assert isinstance(tool, ToolSpec)
    return tool.late, tool.server


def _unused(name: str, used: set[str]) -> str:
    numbered = (name if number == 1 else f"{name}_{number}" for number in range(1, MAX_DEFERRED))
    free = next(each for each in numbered if each not in used)
    used.add(free)
    return free


def _description(server: str, functions: Sequence[dict[str, Any]]) -> str:
    """What the model knows of a namespace before it has searched it."""
    text = f"Tools of the server {server}: {', '.join(function['name'] for function in functions)}"
    return text if len(text) <= _MAX_DESCRIPTION else f"{text[: _MAX_DESCRIPTION - 1]}…"
