"""Anthropic's own tools, as each model takes them, with their settings; and its search among ours.

Source: anthropic 2.12.0, ``types/web_search_tool_20250305_param.py`` and others. Of each tool, that version
is sent which every model that has it takes: later ones of the web tools run code over what they find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...messages import Request
from ..shared.claude.models import family
from ..shared.json_values import as_list, as_object, text

__all__ = ["BUILTINS", "builtin_notes", "builtin_tools", "defers_tools", "with_search"]

BUILTINS: dict[str, dict[str, Any]] = {
    "code_execution": {"type": "code_execution_20250825", "name": "code_execution"},
    "web_fetch": {"type": "web_fetch_20250910", "name": "web_fetch"},
    "web_search": {"type": "web_search_20250305", "name": "web_search"},
}
"""Each by its common name, without settings."""

_SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
_PLACE = ("city", "country", "region", "timezone")
_LIMITS = frozenset({"allowed_domains", "blocked_domains", "max_uses"})
_OPTIONS = {"web_fetch": _LIMITS, "web_search": _LIMITS | {"user_location", *_PLACE}}
"""The settings that each of the web tools takes."""


def builtin_tools(request: Request) -> list[dict[str, Any]]:
    """Those that are asked for and that the model has."""
    return [{**BUILTINS[name], **_settings(name, request)} for name in _served(request)]


def builtin_notes(request: Request) -> tuple[str, ...]:
    """What of them is left out, for people to read."""
    served = _served(request)
    missing = (name for name in dict.fromkeys(request.builtins) if name in BUILTINS and name not in served)
    notes = [f"{request.model} has no {name} of its own: it is left out" for name in missing]
    for name in sorted(_OPTIONS.keys() & set(served)):
        options = request.builtin_options.get(name, {})
        unknown = sorted(options.keys() - _OPTIONS[name])
        if unknown:
            notes.append(f"Anthropic's {name} takes no {', '.join(unknown)}: left out")
        if options.get("allowed_domains") and options.get("blocked_domains"):
            notes.append(f"{name} takes allowed or blocked domains: the blocked ones are left out")
    return tuple(notes)


def defers_tools(model: str) -> bool:
    """Whether the model can search for the tools that it needs."""
    return family(model).searches


def with_search(
    tools: Sequence[Mapping[str, Any]], request: Request, named: str | None
) -> list[Mapping[str, Any]]:
    """``tools``; those beyond ``Request.defer_tools`` are left to the model's search, which is added.

    The tool ``named``, which has to be called, stays.
    """
    most = request.defer_tools
    if most is None or len(tools) <= most or not defers_tools(request.model):
        return list(tools)
    later = ({**tool, "defer_loading": True} if tool["name"] != named else tool for tool in tools[most:])
    return [*tools[:most], *later, _SEARCH]


def _served(request: Request) -> list[str]:
    served = family(request.model).served
    return [name for name in dict.fromkeys(request.builtins) if name in BUILTINS and name in served]


def _settings(name: str, request: Request) -> dict[str, Any]:
    given = request.builtin_options.get(name, {})
    settings: dict[str, Any] = {}
    if name not in _OPTIONS:
        return settings
    if type(most := given.get("max_uses")) is int:
        settings["max_uses"] = most
    for key in ("allowed_domains", "blocked_domains"):
        if (domains := as_list(given.get(key))) and "allowed_domains" not in settings:
            settings[key] = [text(domain) for domain in domains]
    place = as_object(given.get("user_location")) or given
    where = {key: text(place.get(key)) for key in _PLACE if text(place.get(key))}
    if where and name == "web_search":
        settings["user_location"] = {"type": "approximate", **where}
    return settings
