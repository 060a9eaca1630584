"""How a model behind Converse is to answer: limits, effort, the schema of the answer, cache points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...messages import Assistant, Request
from ..shared.claude.answer_schema import answer_format, takes_answer_schema
from ..shared.claude.models import family as claude_family
from ..shared.claude.render import refused_settings as claudes_refused
from ..shared.claude.thinking import Thinking, thinking_of
from ..shared.json_values import as_object, compact
from ..shared.settings import SAMPLING, fit_settings
from .families import family

__all__ = ["Options", "cached", "options_of", "refused_settings", "request_notes", "takes_answer_schema"]

_BINDING = "thinking-binding-controls-2026-08-01"
_POINT = {"cachePoint": {"type": "default"}}


@dataclass(frozen=True, slots=True)
class Options:
    """``own`` are the model's own fields (``additionalModelRequestFields``), ``output`` is ``outputConfig``,
    ``inference`` is ``inferenceConfig``. ``forced``: whether a call can be demanded beside them.
    """

    own: Mapping[str, Any] = field(default_factory=dict[str, Any])
    output: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inference: Mapping[str, Any] = field(default_factory=dict[str, Any])
    forced: bool = True
    notes: tuple[str, ...] = ()


def options_of(request: Request, sent: Sequence[Mapping[str, Any]]) -> Options:
    """What ``request`` asks for, as its model's family takes it; ``sent`` are its messages as written."""
    wanted = {"maxTokens": request.max_tokens, "temperature": request.temperature}
    inference = {name: value for name, value in wanted.items() if value is not None}
    match family(request.model).effort:
        case "claude":
            return _claude(request, sent, inference)
        case "nova":
            return _nova(request, inference)
        case "reasoning_effort":
            return _reasoning_effort(request, inference)
        case "":
            note = f"{request.model} takes no effort of reasoning: {request.reasoning!r} is left out"
            wished = request.reasoning not in (None, "none")
            return Options(inference=inference, notes=(note,) if wished else ())


def request_notes(request: Request) -> tuple[str, ...]:
    """What of ``request`` its model does not take, and what is sent instead, for people to read."""
    return (*options_of(request, ()).notes, *fit_settings(request, "bedrock", refused_settings(request))[1])


def refused_settings(request: Request) -> frozenset[str]:
    """The settings that its model does not take: Claude's rules hold for Claude, and Nova takes none of
    sampling with the highest effort."""
    kind = family(request.model).effort
    if kind == "claude":
        return claudes_refused(request, thinking_of(request, claude_family(request.model), ()))
    return SAMPLING if kind == "nova" and request.reasoning == "high" else frozenset()


def cached(body: dict[str, Any], request: Request) -> dict[str, Any]:
    """``body`` with cache points where its model's family takes them: after tools, system prompt, messages.

    Writing into the cache costs more than not: so only what is likely to be sent again is kept. That is a
    request with tools, whose results follow, or one of a conversation that has begun.
    """
    places = family(request.model).cached
    goes_on = any(isinstance(message, Assistant) for message in request.messages)
    if not (request.cache and places and (request.tools or goes_on)):
        return body
    if "tools" in places and "toolConfig" in body:
        body["toolConfig"] = {**body["toolConfig"], "tools": [*body["toolConfig"]["tools"], _POINT]}
    if "system" in places and "system" in body:
        body["system"] = [*body["system"], _POINT]
    *before, last = body["messages"] or [{"role": ""}]
    if "messages" in places and last["role"] == "user":
        body["messages"] = [*before, {**last, "content": [*last["content"], _POINT]}]
    return body


def _claude(request: Request, sent: Sequence[Mapping[str, Any]], inference: dict[str, Any]) -> Options:
    kind = claude_family(request.model)
    thinking: Thinking = thinking_of(request, kind, [_as_claude_s(message) for message in sent])
    notes = thinking.notes
    if "temperature" in inference and not thinking.sampled:
        del inference["temperature"]
        notes = (*notes, f"{request.model} takes no temperature here: it is left out")
    output: dict[str, Any] = {"effort": thinking.effort} if thinking.effort else {}
    if (wanted := answer_format(request, kind)) is not None:
        definition = {"name": "answer", "schema": compact(wanted["schema"])}
        output["textFormat"] = {"type": "json_schema", "structure": {"jsonSchema": definition}}
    own: dict[str, Any] = {"thinking": thinking.config} if thinking.config else {}
    if "block_binding" in own.get("thinking", {}):
        own["anthropic_beta"] = [_BINDING]
    return Options(own, output, inference, thinking.forced, notes)


def _as_claude_s(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of Converse with the types of Anthropic's blocks, by which Claude's rules are written."""
    names = {"reasoningContent": "thinking", "toolResult": "tool_result", "toolUse": "tool_use"}
    kinds = (next(iter(as_object(block) or {"text": ""})) for block in message["content"])
    return {"role": message["role"], "content": [{"type": names.get(kind, kind)} for kind in kinds]}


def _nova(request: Request, inference: dict[str, Any]) -> Options:
    """With the highest effort Nova takes neither a limit of tokens nor a temperature."""
    if request.reasoning in (None, "none"):
        return Options(inference=inference)
    own = {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": request.reasoning}}
    if request.reasoning != "high" or not inference:
        return Options(own, inference=inference)
    note = f"{request.model} takes no {' and no '.join(inference)} with the effort 'high': left out"
    return Options(own, notes=(note,))


def _reasoning_effort(request: Request, inference: dict[str, Any]) -> Options:
    if request.reasoning is None:
        return Options(inference=inference)
    if request.reasoning != "none":
        return Options({"reasoning_effort": request.reasoning}, inference=inference)
    note = f"{request.model} always thinks: its effort is 'low'"
    return Options({"reasoning_effort": "low"}, inference=inference, notes=(note,))
