"""OpenAI's own tools, by their common names, with their options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...messages import Request

_Options = Mapping[str, Any]
_PLACE = ("city", "country", "region", "timezone")


def _web_search(options: _Options) -> dict[str, Any]:
    tool: dict[str, Any] = {"type": "web_search"}
    if domains := options.get("allowed_domains"):
        tool["filters"] = {"allowed_domains": list(domains)}
    place: _Options = options.get("user_location") or {}
    if known := {name: place[name] for name in _PLACE if place.get(name)}:
        tool["user_location"] = {"type": "approximate", **known}
    return tool


def _code_interpreter(options: _Options) -> dict[str, Any]:
    return {"type": "code_interpreter", "container": {"type": "auto"}}


BUILTINS: dict[str, Callable[[_Options], dict[str, Any]]] = {
    "code_execution": _code_interpreter,
    "web_search": _web_search,
}
"""How each tool is written, from its options."""

OPTIONS: dict[str, frozenset[str]] = {
    "code_execution": frozenset(),
    "web_search": frozenset({"allowed_domains", "user_location"}),
}
"""The options that each tool has here."""


def builtin_tools(request: Request) -> Iterator[dict[str, Any]]:
    """The provider's own tools of ``request``, each once; those that it does not have are left out."""
    for name in dict.fromkeys(request.builtins):
        if name in BUILTINS:
            yield BUILTINS[name](request.builtin_options.get(name, {}))
