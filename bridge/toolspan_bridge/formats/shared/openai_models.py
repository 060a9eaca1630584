"""What is known of OpenAI's models by their names: tables, read by both of OpenAI's formats.

A name may have a prefix, as routers and fine-tuned models have it (``openai/gpt-5``, ``ft:gpt-4o:acme``), and
a date after it. A name that is in no table is that of a model of which nothing is known.
"""

from __future__ import annotations

import re

__all__ = [
    "chat_only",
    "efforts",
    "hears",
    "nearest_effort",
    "no_builtins",
    "reasons",
    "searches",
    "searches_tools",
]

_PREFIX = r"(?:ft:|openai/)*"
_CHAT_ONLY = re.compile(
    rf"{_PREFIX}(?:o1-mini|gpt-audio|gpt-realtime|gpt-5-search-api)|.*-(?:audio|search)-preview"
)
_REASONS = re.compile(rf"{_PREFIX}(?:o[1-9](?:-|$)|codex-|gpt-(?:[5-9]|[1-9]\d)(?![\d.]*-chat))")
_DOES_NOT_REASON = re.compile(rf"{_PREFIX}(?:chatgpt-|gpt-3|gpt-4|gpt-[\d.]+-chat)")
_EFFORTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"gpt-5-pro", ("high",)),
    (r"gpt-5\.\d+-pro", ("medium", "high")),
    (r"gpt-5-codex|gpt-5\.\d+-codex|codex-|o[1-9](?:-|$)", ("low", "medium", "high")),
    (r"gpt-6-astra|gpt-6\.1-sol", ("low", "medium", "high")),
    (r"gpt-5(?:-|$)", ("minimal", "low", "medium", "high")),
)
_SEARCHES_TOOLS = re.compile(rf"{_PREFIX}gpt-(?:5\.(?:[4-9]|\d\d)|[6-9]|[1-9]\d)(?![\d.]*-chat)")
_FROM_LEAST = ("none", "minimal", "low", "medium", "high")
_NO_SEARCH = re.compile(rf"{_PREFIX}(?:gpt-3|gpt-4(?:-|$)|gpt-4\.1-nano|o1|o3-mini)")
_SEARCHES = re.compile(rf"{_PREFIX}gpt-5-search-api|.*-search-preview")

_HEARS = re.compile(rf"{_PREFIX}gpt-audio|.*-audio-preview|(?:mistralai/)?voxtral-")


def chat_only(model: str) -> bool:
    """Whether Responses does not serve ``model``: those of sound and of search, and o1-mini."""
    return _CHAT_ONLY.match(model) is not None


def hears(model: str) -> bool:
    """Whether ``model`` takes sounds by Chat Completions: those of sound, and Mistral's Voxtral."""
    return _HEARS.match(model) is not None


def reasons(model: str) -> bool | None:
    """Whether ``model`` thinks before it answers, as GPT-5 and later and the o series do; ``None`` where
    that is not known."""
    if _DOES_NOT_REASON.match(model):
        return False
    return True if _REASONS.match(model) else None


def efforts(model: str) -> tuple[str, ...]:
    """The efforts of reasoning that ``model`` takes, from the least; of models in no table all but
    ``minimal``, as GPT-5.1 and later take them."""
    known = (taken for name, taken in _EFFORTS if re.match(f"{_PREFIX}(?:{name})", model))
    return next(known, ("none", "low", "medium", "high"))


def nearest_effort(wanted: str, taken: tuple[str, ...]) -> str:
    """The one of ``taken`` that is nearest to ``wanted``, rather more than less."""
    place = _FROM_LEAST.index(wanted)
    return next((each for each in taken if _FROM_LEAST.index(each) >= place), taken[-1])


def no_builtins(model: str) -> frozenset[str]:
    """OpenAI's own tools that ``model`` is known to refuse in Responses."""
    return frozenset({"web_search"}) if _NO_SEARCH.match(model) else frozenset()


def searches(model: str) -> bool:
    """Whether ``model`` searches the web by Chat Completions, where all others refuse that option."""
    return _SEARCHES.match(model) is not None


def searches_tools(model: str) -> bool:
    """Whether ``model`` has Responses' search for deferred tools: GPT-5.4 and later."""
    return _SEARCHES_TOOLS.match(model) is not None
