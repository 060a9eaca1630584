"""The further settings of an answer, and where each wire format has them: one table.

A setting goes by its common name, as Chat Completions has it: ``top_p``, ``top_k``, ``min_p``, ``seed``,
``frequency_penalty``, ``presence_penalty``, ``repetition_penalty``, ``logit_bias``, ``stop`` (texts that end
the answer), ``user`` (who asks), ``service_tier``, ``verbosity``. What a format has no place for, or its
model does not take, is left out, and a note says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...messages import Request
from .json_values import as_object

__all__ = [
    "SAMPLING",
    "USUAL_TIERS",
    "dearer_setting",
    "fit_settings",
    "is_standard_service",
    "with_settings",
]

SAMPLING = frozenset(
    {"frequency_penalty", "logit_bias", "min_p", "presence_penalty", "repetition_penalty"}
) | {
    "top_k",
    "top_p",
}
"""Those that change how words are drawn: models that take no ``temperature`` take none of them."""

_SAMPLED = ("top_p", "top_k", "min_p", "seed", "frequency_penalty", "presence_penalty")
_PLACES: dict[str, dict[str, str]] = {
    "openai": {
        name: name
        for name in (
            *_SAMPLED,
            "repetition_penalty",
            "logit_bias",
            "stop",
            "user",
            "service_tier",
            "verbosity",
        )
    },
    "openai-responses": {
        "top_p": "top_p",
        "user": "user",
        "service_tier": "service_tier",
        "verbosity": "text.verbosity",
    },
    "anthropic": {
        "top_p": "top_p",
        "top_k": "top_k",
        "stop": "stop_sequences",
        "user": "metadata.user_id",
        "service_tier": "service_tier",
    },
    "bedrock-anthropic": {"top_p": "top_p", "top_k": "top_k", "stop": "stop_sequences"},
    "bedrock": {
        "top_p": "inferenceConfig.topP",
        "stop": "inferenceConfig.stopSequences",
        "service_tier": "serviceTier.type",
    },
    "gemini": {
        "top_p": "generationConfig.topP",
        "top_k": "generationConfig.topK",
        "seed": "generationConfig.seed",
        "frequency_penalty": "generationConfig.frequencyPenalty",
        "presence_penalty": "generationConfig.presencePenalty",
        "stop": "generationConfig.stopSequences",
    },
    "ollama": {
        **{name: f"options.{name}" for name in (*_SAMPLED, "stop")},
        "repetition_penalty": "options.repeat_penalty",
    },
}
_OPENAI_TIERS = frozenset({"auto", "default", "flex", "priority", "scale"})
_TIERS = {
    "openai": _OPENAI_TIERS,
    "openai-responses": _OPENAI_TIERS,
    "anthropic": frozenset({"auto", "standard_only"}),
    "bedrock": frozenset({"default", "flex", "priority", "reserved"}),
}
USUAL_TIERS = ("auto", "default", "standard_only")
"""The words of a ``service_tier`` for the one that holds anyhow, and for that of the standard price."""
_CHEAP_TIERS = ("flex",)
_STANDARD_SERVICES = frozenset({*USUAL_TIERS, *_CHEAP_TIERS, "batch", "on_demand", "standard"})
"""What providers call the services that cost the standard price or less: all others may cost more."""
_NO_PRICE = SAMPLING | {"seed", "stop", "user", "verbosity"}
"""The settings that change no token's price. What is not among them is refused where money is limited."""
_MOST_STOPS = 4
"""The most that every provider takes."""


def fit_settings(
    request: Request, wire: str, refused: Collection[str] = ()
) -> tuple[Request, tuple[str, ...]]:
    """``request`` with the settings alone that the format ``wire`` has a place for and that are not
    ``refused`` by its model, and a note on each of the others.

    Nothing is said of ``stop``, which whoever asks looks for in any case, nor of the usual ``service_tier``.
    """
    taken = {
        name: value
        for name, value in request.settings.items()
        if name in _PLACES[wire] and name not in refused and _is_taken(wire, name, value)
    }
    left = [
        name for name, value in request.settings.items() if name not in taken and not _is_usual(name, value)
    ]
    notes = tuple(f"{request.model} takes no {name} here: it is left out" for name in left)
    if request.caps_price:
        taken = _at_most_standard(taken, request.wire.standard_tier)
    return replace(request, settings=taken) if taken != request.settings else request, notes


def with_settings(
    body: dict[str, Any], request: Request, wire: str, renamed: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """``body`` with the settings of ``request``, each at its place in the format ``wire``, or under the name
    that it is ``renamed`` to there."""
    for name, value in request.settings.items():
        *path, last = (renamed or {}).get(name, _PLACES[wire][name]).split(".")
        holder = body
        for step in path:
            holder[step] = dict(as_object(holder.get(step)) or {})
            holder = holder[step]
        holder[last] = value
    return body


def dearer_setting(settings: Mapping[str, Any]) -> str:
    """What of ``settings`` may make an answer cost more than the standard price, for people; empty where
    nothing does."""
    for name, value in settings.items():
        if name == "service_tier":
            if value not in (*USUAL_TIERS, *_CHEAP_TIERS):
                return f"the service tier {str(value)[:60]!r}"
        elif name not in _NO_PRICE:
            return f"the setting {name!r}"
    return ""


def is_standard_service(told: Any) -> bool:
    """Whether the service that a provider says it answered by costs the standard price or less; one that says
    nothing has no other."""
    return not told or (isinstance(told, str) and told.lower() in _STANDARD_SERVICES)


def _at_most_standard(taken: Mapping[str, Any], standard: str) -> dict[str, Any]:
    """``taken`` with the tier of the ``standard`` price, unless it has a cheaper one."""
    if taken.get("service_tier") in _CHEAP_TIERS:
        return dict(taken)
    others = {name: value for name, value in taken.items() if name != "service_tier"}
    return {**others, "service_tier": standard} if standard else others


def _is_taken(wire: str, name: str, value: Any) -> bool:
    if name == "service_tier":
        return value in _TIERS[wire]
    return name != "stop" or (len(value) <= _MOST_STOPS and all(_nonblank(value)))


def _nonblank(stops: Collection[str]) -> Iterator[bool]:
    return (bool(each.strip()) for each in stops)


def _is_usual(name: str, value: Any) -> bool:
    return name == "stop" or (name == "service_tier" and value in USUAL_TIERS)
