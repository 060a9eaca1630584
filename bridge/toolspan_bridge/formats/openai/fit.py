"""A request without what its model or its provider refuses, and how the effort of reasoning is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...messages import Request
from ..shared.openai_models import efforts, nearest_effort, reasons, searches
from ..shared.settings import SAMPLING, fit_settings

_SEARCH = "web_search"


def fitted(request: Request) -> tuple[Request, tuple[str, ...]]:
    """``request`` without what its model is known to refuse, and a note on each thing left out."""
    notes: list[str] = []
    if request.temperature is not None and reasons(request.model):
        request = replace(request, temperature=None)
        notes.append(f"The temperature is left out: {request.model} takes none.")
    if _SEARCH in request.builtins and not searches(request.model):
        request = replace(request, builtins=tuple(name for name in request.builtins if name != _SEARCH))
        notes.append(f"web_search is left out: {request.model} has none in Chat Completions.")
    if not request.wire.chat.forces_calls and request.tool_choice not in ("auto", "none"):
        request = replace(request, tool_choice="auto")
        notes.append(f"{request.model} cannot be made to call a tool: it may choose.")
    request, left_out = fit_settings(_with_effort(request, notes), "openai", _refused(request))
    return request, (*notes, *left_out)


def thought_fields(request: Request) -> dict[str, Any]:
    """The fields of the body that ask for the effort of ``request``, and for thoughts apart from the text."""
    split = request.wire.chat.splits_thoughts
    return {**({split: True} if split else {}), **_effort_fields(request)}


def _effort_fields(request: Request) -> dict[str, Any]:
    chat, effort = request.wire.chat, request.reasoning
    if effort is None or not chat.effort:
        return {}
    value = _effort(request)
    if chat.effort == "thinking":
        switch = {"thinking": {"type": "disabled" if effort == "none" else "enabled"}}
        return switch if effort == "none" or value is None else {**switch, "reasoning_effort": value}
    if value is None:
        return {}
    return {"reasoning": {"effort": value}} if chat.effort == "reasoning" else {"reasoning_effort": value}


def _refused(request: Request) -> frozenset[str]:
    """The settings that are left out: models that reason take none of sampling and no texts to stop at."""
    refused = request.wire.chat.refused
    return refused | SAMPLING | {"stop"} if reasons(request.model) else refused


def _with_effort(request: Request, notes: list[str]) -> Request:
    effort = request.reasoning
    if effort is None:
        return request
    switched = request.wire.chat.effort == "thinking"
    if not request.wire.chat.effort or reasons(request.model) is False or not (switched or _effort(request)):
        if effort != "none":
            notes.append(f"The effort {effort} is left out: {request.model} takes none.")
        return replace(request, reasoning=None)
    if effort == "none" and not switched:
        sent = _effort(request)
        if sent != effort:
            notes.append(f"{request.model} cannot be told not to think: the effort {sent} is asked for.")
    return request


def _effort(request: Request) -> str | None:
    """The effort that is sent: the nearest of those of the provider, or of OpenAI's model; ``None`` where
    none of them is known.
    """
    assert request.reasoning is not None
    taken = efforts(request.model) if reasons(request.model) else request.wire.chat.efforts
    if request.reasoning != "none":
        taken = tuple(effort for effort in taken if effort != "none")
    return nearest_effort(request.reasoning, taken) if taken else None


def request_notes(request: Request) -> tuple[str, ...]:
    """What of ``request`` its model does not take, for people to read."""
    return fitted(request)[1]
