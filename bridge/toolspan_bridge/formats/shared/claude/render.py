"""Renders the body of a request to Claude: tools, tool choice, and the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....messages import Request, ToolSpec
from ...names import NameTable
from ..tools.choice import must_call
from ..tools.compile import WireTool
from .conversation import has_thoughts, messages
from .tools import compiled

__all__ = ["render_tools", "request_body"]

_SMALL = (
    ("claude-2", 4096),
    ("claude-instant", 4096),
    ("claude-3-5", 8192),
    ("claude-3-7", 8192),
    ("claude-3", 4096),
)
_MODERN = 16_384
_UNKNOWN = 4096


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"name", "description"?, "input_schema", "strict"?}]``; strict only where it loses nothing."""
    return compiled(tools, names).rendered(_tool)


def request_body(
    request: Request, names: NameTable, format_name: str, builtins: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """The body except the model: ``max_tokens``, ``system``, ``messages``, tools and tool choice.

    A thinking model cannot be forced to call a tool: the system prompt asks it to instead.
    """
    tools = render_tools(request.tools, names)
    every = [*tools, *builtins]
    choice, instruction = _choice(request, names, format_name, tools) if every else ({}, "")
    system = "\n\n".join(filter(None, (request.system.strip(), instruction)))
    body: dict[str, Any] = {"max_tokens": request.max_tokens or _max_tokens(request.model)}
    if system:
        body["system"] = system
    if every:
        body |= {"tools": every, "tool_choice": choice}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return {**body, "messages": messages(request, format_name, with_tools=bool(every))}


def _max_tokens(model: str) -> int:
    """The limit of output when the request has none, since the API requires one: within what a model of that
    name can write, and 4096, within what any Claude can, when the name is unknown.
    """
    if "claude" not in model:
        return _UNKNOWN
    return next((most for name, most in _SMALL if name in model), _MODERN)


def _choice(
    request: Request, names: NameTable, format_name: str, tools: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], str]:
    """``tool_choice``, or the instruction that replaces it in the system prompt."""
    if request.tool_choice == "none":
        return {"type": "none"}, ""
    named = must_call(request.tool_choice, (tool["name"] for tool in tools), names)
    instruction = ""
    choice: dict[str, Any] = {"type": "auto"}
    if named or request.tool_choice == "required":
        if has_thoughts(request, format_name):
            instruction = f"Answer by calling {f'the tool {named}' if named else 'one of the tools'}."
        else:
            choice = {"type": "tool", "name": named} if named else {"type": "any"}
    if request.parallel is not None:
        choice["disable_parallel_tool_use"] = not request.parallel
    return choice, instruction


def _tool(tool: WireTool) -> dict[str, Any]:
    described = {"description": tool.description} if tool.description else {}
    strict = {"strict": True} if tool.strict else {}
    return {"name": tool.name, **described, "input_schema": tool.schema, **strict}
