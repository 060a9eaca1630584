"""A request without what its model is known to refuse, and the effort of its reasoning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ...messages import Request
from ..shared.openai_models import efforts, nearest_effort, no_builtins, reasons
from ..shared.settings import SAMPLING, fit_settings
from .builtin_tools import BUILTINS, OPTIONS

_LEAST_WITH_SEARCH = "low"


def fitted(request: Request) -> tuple[Request, tuple[str, ...]]:
    """``request`` without what its model is known to refuse, and a note on each thing left out."""
    notes: list[str] = []
    model = request.model
    if request.temperature is not None and reasons(model):
        request = replace(request, temperature=None)
        notes.append(f"The temperature is left out: {model} takes none.")
    if request.reasoning is not None and reasons(model) is False:
        if request.reasoning != "none":
            notes.append(f"The effort {request.reasoning} is left out: {model} takes none.")
        request = replace(request, reasoning=None)
    if request.reasoning == "none" and (sent := _effort(request)) != "none":
        notes.append(f"{model} cannot be told not to think: the effort {sent} is asked for.")
    refused = no_builtins(model) & set(request.builtins)
    if refused:
        kept = tuple(name for name in request.builtins if name not in refused)
        request = replace(request, builtins=kept)
        notes += [f"{name} is left out: {model} has none." for name in sorted(refused)]
    request, left_out = fit_settings(request, "openai-responses", SAMPLING if reasons(model) else ())
    return request, (*notes, *_unknown_options(request), *left_out)


def reasoning(request: Request) -> dict[str, Any] | None:
    """The ``reasoning`` of the body; ``None`` where it is left to the model.

    A model that was told to think would be silent for long: in a stream it also sums its thoughts up.
    """
    if request.reasoning is None:
        return None
    asked = {"effort": _effort(request)}
    return asked | {"summary": "auto"} if request.stream and request.reasoning != "none" else asked


def _effort(request: Request) -> str:
    assert request.reasoning is not None
    sent = nearest_effort(request.reasoning, efforts(request.model))
    searching = "web_search" in request.builtins and sent == "minimal"
    return _LEAST_WITH_SEARCH if searching else sent


def _unknown_options(request: Request) -> Iterator[str]:
    for name in dict.fromkeys(request.builtins):
        if name in BUILTINS:
            for option in sorted(request.builtin_options.get(name, {}).keys() - OPTIONS[name]):
                yield f"{option} of {name} is left out: {request.model} has no such option."


def request_notes(request: Request) -> tuple[str, ...]:
    """What of ``request`` its model does not take, for people to read."""
    return fitted(request)[1]
