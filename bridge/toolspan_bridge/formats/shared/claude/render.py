"""Renders the body of a request to Claude: tools, tool choice, thinking, and the conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....messages import Request, ToolSpec
from ...names import NameTable
from ..settings import SAMPLING, fit_settings, with_settings
from ..tools.choice import must_call
from ..tools.compile import WireTool
from .answer_schema import answer_format
from .caching import cached
from .conversation import has_thoughts, messages
from .media import ANTHROPIC_ROOM, Room
from .models import Family, family
from .thinking import Thinking, thinking_of
from .tools import compiled

__all__ = [
    "ANTHROPIC",
    "Place",
    "Search",
    "refused_settings",
    "render_tools",
    "request_body",
    "request_notes",
]

_OUTPUT = 16_384
_THOUGHTFUL_OUTPUT = 32_768


@dataclass(frozen=True, slots=True)
class Place:
    """What differs between the places that serve Claude: the ``room`` for files, and whether the provider
    finds the end of what it is to cache itself."""

    room: Room = ANTHROPIC_ROOM
    marks_end: bool = True


ANTHROPIC = Place()

Search = Callable[[Sequence[Mapping[str, Any]], Request, str | None], list[Mapping[str, Any]]]
"""What leaves some of the written tools to a search: given these, the request, and the tool to be called."""


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"name", "description"?, "input_schema", "strict"?}]``; strict only where it loses nothing."""
    return compiled(tools, names).rendered(_tool)


def request_body(
    request: Request,
    names: NameTable,
    format_name: str,
    builtins: Sequence[Mapping[str, Any]] = (),
    place: Place = ANTHROPIC,
    search: Search | None = None,
) -> dict[str, Any]:
    """The body except the model: ``max_tokens``, ``system``, ``messages``, tools and tool choice, thinking.

    A model that cannot be forced to call a tool is asked to in the system prompt instead. ``search`` leaves
    tools to the model's own search.
    """
    kind = family(request.model)
    tools = render_tools(request.tools, names)
    named = must_call(request.tool_choice, (tool["name"] for tool in tools), names)
    every = [*(search(tools, request, named) if search else tools), *builtins]
    sent = messages(request, format_name, place.room, with_tools=bool(every))
    thinking = thinking_of(request, kind, sent)
    forced = thinking.forced and not has_thoughts(request, format_name)
    choice, instruction = _choice(request, named, forced=forced) if every else ({}, "")
    system = "\n\n".join(filter(None, (request.system.strip(), instruction)))
    body: dict[str, Any] = {"max_tokens": _max_tokens(request, kind, thinking)}
    if system:
        body["system"] = system
    if every:
        body |= {"tools": every, "tool_choice": choice}
    if request.temperature is not None and thinking.sampled:
        body["temperature"] = request.temperature
    body |= _thought(request, kind, thinking)
    fit, _ = fit_settings(request, format_name, refused_settings(request, thinking))
    body = with_settings(body, fit, format_name)
    return cached({**body, "messages": sent}, request, top_level=place.marks_end)


def request_notes(request: Request, format_name: str) -> tuple[str, ...]:
    """What of ``request`` its model does not take, and what is sent instead, for people to read."""
    thinking = thinking_of(request, family(request.model), ())
    notes = thinking.notes
    if request.temperature is not None and not thinking.sampled:
        notes = (*notes, f"{request.model} takes no temperature here: it is left out")
    return (*notes, *fit_settings(request, format_name, refused_settings(request, thinking))[1])


def refused_settings(request: Request, thinking: Thinking) -> frozenset[str]:
    """The settings that a Claude does not take: those of sampling where it takes no temperature, and
    ``top_p`` beside one."""
    beside = frozenset({"top_p"}) if request.temperature is not None else frozenset[str]()
    return beside if thinking.sampled else SAMPLING


def _thought(request: Request, kind: Family, thinking: Thinking) -> dict[str, Any]:
    """``thinking`` and ``output_config``, where there is anything to say."""
    effort = {"effort": thinking.effort} if thinking.effort else {}
    wanted = answer_format(request, kind)
    output = {**effort, **({"format": wanted} if wanted else {})}
    config = {"thinking": thinking.config} if thinking.config else {}
    return {**config, **({"output_config": output} if output else {})}


def _max_tokens(request: Request, kind: Family, thinking: Thinking) -> int:
    """The limit of output when the request has none, since the API requires one: what any model of that
    family can write. Thoughts are part of it.
    """
    if request.max_tokens:
        return request.max_tokens
    thoughtful = kind.thinks_unasked or request.reasoning in ("low", "medium", "high")
    return min(thinking.budget + (_THOUGHTFUL_OUTPUT if thoughtful else _OUTPUT), kind.most)


def _choice(request: Request, named: str | None, *, forced: bool) -> tuple[dict[str, Any], str]:
    """``tool_choice``, or the instruction that replaces it in the system prompt; ``named`` is the one tool
    that has to be called."""
    if request.tool_choice == "none":
        return {"type": "none"}, ""
    instruction = ""
    choice: dict[str, Any] = {"type": "auto"}
    if named or request.tool_choice == "required":
        if forced:
            choice = {"type": "tool", "name": named} if named else {"type": "any"}
        else:
            instruction = f"Answer by calling {f'the tool {named}' if named else 'one of the tools'}."
    if request.parallel is not None:
        choice["disable_parallel_tool_use"] = not request.parallel
    return choice, instruction


def _tool(tool: WireTool) -> dict[str, Any]:
    described = {"description": tool.description} if tool.description else {}
    strict = {"strict": True} if tool.strict else {}
    return {"name": tool.name, **described, "input_schema": tool.schema, **strict}
