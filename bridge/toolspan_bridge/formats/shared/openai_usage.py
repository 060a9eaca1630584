"""The tokens that OpenAI's formats count: the same object, whose keys start with other words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import Usage
from .json_values import as_object, at, count


def usage_of(body: Mapping[str, Any], asked: str, answered: str) -> Usage:
    """``usage`` of ``body``, whose keys start with ``asked`` and ``answered``: ``prompt_tokens``, say."""
    usage = as_object(body.get("usage"))
    if usage is None:
        return Usage()
    return Usage(
        input_tokens=count(usage.get(f"{asked}_tokens")),
        output_tokens=count(usage.get(f"{answered}_tokens")),
        cached_tokens=count(at(usage, f"{asked}_tokens_details", "cached_tokens")),
        reasoning_tokens=count(at(usage, f"{answered}_tokens_details", "reasoning_tokens")),
        written_tokens=count(at(usage, f"{asked}_tokens_details", "cache_write_tokens")),
        raw=(usage,),
    )
