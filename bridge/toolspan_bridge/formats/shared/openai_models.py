"""What is known of OpenAI's models by their names: tables, read by both of OpenAI's formats.

A name may have a prefix, as routers and fine-tuned models have it (``openai/gpt-5``, ``ft:gpt-4o:acme``), and
a date after it. A name that is in no table is that of a model of which nothing is known.
"""

from __future__ import annotations

import re

__all__ = ["chat_only", "reasons"]

_PREFIX = r"(?:ft:|openai/)*"
_CHAT_ONLY = re.compile(
    rf"{_PREFIX}(?:o1-mini|gpt-audio|gpt-realtime|.*-audio-preview|.*-search-preview|gpt-5-search-api)"
)
_REASONS = re.compile(rf"{_PREFIX}(?:o[1-9](?:-|$)|codex-|gpt-(?:[5-9]|[1-9]\d)(?![\d.]*-chat))")
_DOES_NOT_REASON = re.compile(rf"{_PREFIX}(?:chatgpt-|gpt-3|gpt-4|gpt-[\d.]+-chat)")


def chat_only(model: str) -> bool:
    """Whether Responses does not serve ``model``: those of sound and of search, and o1-mini."""
    return _CHAT_ONLY.match(model) is not None


def reasons(model: str) -> bool | None:
    """Whether ``model`` thinks before it answers, as GPT-5 and later and the o series do; ``None`` where
    that is not known."""
    if _DOES_NOT_REASON.match(model):
        return False
    return True if _REASONS.match(model) else None
