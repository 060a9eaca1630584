"""The limit of the answer's tokens that a body tells its provider, in any format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .json_types import is_object

__all__ = ["told_limit"]

_NAMES = frozenset(
    {"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens"}
)
_SETTINGS = {"generationConfig": _NAMES, "inferenceConfig": _NAMES, "options": frozenset({"num_predict"})}
"""The objects of a body that hold settings (Gemini's, Bedrock's, Ollama's), with their names of the limit."""


def told_limit(body: Mapping[str, Any]) -> int | None:
    """The most tokens that ``body`` lets the provider write, thoughts among them; ``None`` for any number."""
    found = [body.get(name) for name in _NAMES]
    for settings, names in _SETTINGS.items():
        if is_object(inner := body.get(settings)):
            found += [inner.get(name) for name in names]
    limits = [
        limit for limit in found if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0
    ]
    return max(limits, default=None)
