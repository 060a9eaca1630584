"""What the families of models behind Converse take, by the model's id: one table.

Sources, read in November 2026: botocore 1.44.5 (which fields are documented for which families); tests of
others against Bedrock itself (pydantic-ai#6098, opencode#49443, pi#8643, strands-agents#1241). What is not
known of a family is read as refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

__all__ = ["Family", "Kind", "family"]

Kind = Literal["text", "image", "document"]
"""A block of a message that may stand beside results."""


@dataclass(frozen=True, slots=True)
class Family:
    """One family. ``beside`` is what may share a message with results. ``images`` and ``documents`` of
    results stand inside them, after them, or are described. ``results`` is how their content is written.

    ``status``: whether a result may have one. ``forced`` are the ways of making it call. ``none``: whether
    its own ``tool_choice`` knows ``none``. ``thoughts``: whether signed thoughts go back. ``cites``: whether
    its own words go back with the sources that it named for them. ``cached`` are the places of a cache point.
    ``effort`` is the way of asking for one.
    """

    beside: frozenset[Kind] = frozenset()
    images: Literal["inside", "after", "described"] = "after"
    documents: Literal["inside", "after", "described"] = "described"
    results: Literal["either", "text", "json"] = "text"
    status: bool = False
    forced: frozenset[Literal["any", "tool"]] = frozenset()
    none: bool = False
    thoughts: bool = False
    cites: bool = False
    cached: frozenset[Literal["system", "tools", "messages"]] = frozenset()
    effort: Literal["claude", "nova", "reasoning_effort", ""] = ""


_CLAUDE = Family(
    beside=frozenset({"text", "image"}),
    images="inside",
    documents="inside",
    results="either",
    status=True,
    forced=frozenset({"any", "tool"}),
    none=True,
    thoughts=True,
    cites=True,
    effort="claude",
)
_CLAUDE_CACHED = replace(_CLAUDE, cached=frozenset({"system", "tools", "messages"}))
_NOVA = Family(
    beside=frozenset({"text", "image", "document"}),
    images="inside",
    documents="after",
    results="either",
    status=True,
    forced=frozenset({"any", "tool"}),
    cites=True,
    cached=frozenset({"system"}),
)
_TEXT_ONLY = Family(images="described")
_MISTRAL = Family(results="json", images="described")
_UNKNOWN = Family(thoughts=True)

_FAMILIES: tuple[tuple[str, Family], ...] = (
    (r"anthropic\.claude-(instant|v\d|3-(opus|sonnet|haiku|5-sonnet-20240620))", _CLAUDE),
    (r"anthropic\.claude", _CLAUDE_CACHED),
    (r"amazon\.nova-micro", replace(_NOVA, images="described", documents="described")),
    (r"amazon\.nova-2", replace(_NOVA, effort="nova")),
    (r"amazon\.nova", _NOVA),
    (r"meta\.llama4", Family(images="inside")),
    (r"meta\.llama3-2-(11|90)b", Family()),
    (r"meta\.", _TEXT_ONLY),
    (
        r"mistral\.(pixtral|mistral-large-3|ministral-3|magistral-small-2509)",
        replace(_MISTRAL, images="after"),
    ),
    (r"mistral\.", _MISTRAL),
    (r"qwen\..{0,100}-vl", Family(beside=frozenset({"text", "image"}))),
    (r"qwen\.", Family(beside=frozenset({"text"}), images="described")),
    (r"openai\.gpt-oss", replace(_TEXT_ONLY, effort="reasoning_effort")),
    (r"openai\.", Family(beside=frozenset({"text", "image"}))),
    (r"(ai21|cohere|deepseek|writer)\.", _TEXT_ONLY),
)
"""Patterns of ids, the first that is found in one decides."""

_PATTERNS = tuple((re.compile(pattern), found) for pattern, found in _FAMILIES)


@lru_cache(maxsize=256)
def family(model: str) -> Family:
    """The family of a model, also by the id or ARN of an inference profile that names it.

    The ids of profiles of one's own (``application-inference-profile``) do not tell: then only what every
    family takes is sent.
    """
    return next((found for pattern, found in _PATTERNS if pattern.search(model.lower())), _UNKNOWN)
