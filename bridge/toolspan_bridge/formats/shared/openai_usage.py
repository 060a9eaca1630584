"""The tokens that OpenAI's formats count: the same object, whose keys start with other words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import Usage
from .json_values import as_object, at, count
from .settings import is_standard_service

_CACHED = ("prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens")
"""What DeepSeek, Moonshot and Mistral call the tokens that came from their cache."""


def usage_of(body: Mapping[str, Any], asked: str, answered: str) -> Usage:
    """``usage`` of ``body``, whose keys start with ``asked`` and ``answered``: ``prompt_tokens``, say.

    Compatible servers count what their cache gave under other names. Where the total shows that the output
    was counted without its reasoning, as xAI does, that is added. ``service_tier`` says how it was served.
    """
    usage = as_object(body.get("usage"))
    if usage is None:
        return Usage()
    given, said = f"{asked}_tokens_details", f"{answered}_tokens_details"
    read, written = count(usage.get(f"{asked}_tokens")), count(usage.get(f"{answered}_tokens"))
    reasoning = count(at(usage, said, "reasoning_tokens")) or count(usage.get("reasoning_tokens"))
    if reasoning and count(usage.get("total_tokens")) == read + written + reasoning:
        written += reasoning
    cached = [count(at(usage, given, "cached_tokens")), *(count(usage.get(name)) for name in _CACHED)]
    return Usage(
        input_tokens=read,
        output_tokens=written,
        cached_tokens=max(cached),
        reasoning_tokens=reasoning,
        raw=(usage,),
        written_tokens=count(at(usage, given, "cache_write_tokens")),
        dearer=not is_standard_service(body.get("service_tier")),
    )
