"""What each family of Claude takes: limits, thinking, and parameters that it refuses.

Sources, read in November 2026: platform.claude.com ("Models", the migration guides of Fable 5.1, Opus 5.5,
Sonnet 5.5 and Haiku 5.5, "Thinking", "Effort", "Structured outputs", "Preserved thinking") and the types of
anthropic 2.12.0. What they leave open is read as refused: then a request is accepted in either case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

__all__ = ["UNKNOWN", "Family", "family"]

_Thinking = Literal["never", "budget", "adaptive", "by_default", "between_tools", "always"]
"""How a family thinks.

``never``; ``budget``: when asked, up to a number of tokens; ``adaptive``: when asked, as much as it needs;
``by_default``: the same unless it is switched off; ``between_tools``: all but the thoughts between its calls
can be switched off; ``always``: no switch.
"""


_SEARCH = frozenset({"web_search"})
_ALL_SERVED = _SEARCH | {"code_execution", "web_fetch"}


@dataclass(frozen=True, slots=True)
class Family:
    """One family. ``most`` are the output tokens of one answer. ``effort``: whether ``output_config.effort``
    is known; ``sampling``: whether ``temperature`` may be sent; ``forced``: whether it can be made to call a
    tool; ``structured``: whether it takes strict tools and a schema of the answer; ``searches``: whether it
    searches among tools itself. ``served`` are Anthropic's own tools that it can use.
    """

    most: int
    thinking: _Thinking = "never"
    effort: bool = False
    sampling: bool = True
    forced: bool = True
    structured: bool = False
    searches: bool = False
    served: frozenset[str] = _SEARCH

    @property
    def thinks_unasked(self) -> bool:
        """Whether it thinks in a request that says nothing of it. Then it also hides what it thinks."""
        return self.thinking in ("by_default", "between_tools", "always")


UNKNOWN = Family(4096, served=_ALL_SERVED)
"""A model of another name: what every Claude takes, and the tools that were asked for."""

_OLD = Family(4096, served=frozenset())
_THREE_FIVE = Family(8192)
_THREE_SEVEN = Family(64_000, "budget")
_OPUS_FOUR = Family(32_000, "budget", served=_ALL_SERVED)
_FOUR = Family(64_000, "budget", served=_ALL_SERVED)
_FOUR_FIVE = Family(64_000, "budget", structured=True, searches=True, served=_ALL_SERVED)
_FOUR_SIX = Family(64_000, "adaptive", effort=True, structured=True, searches=True, served=_ALL_SERVED)
_FOUR_SEVEN = Family(
    128_000, "adaptive", effort=True, sampling=False, structured=True, searches=True, served=_ALL_SERVED
)


def _five(thinking: _Thinking, *, forced: bool) -> Family:
    return Family(
        128_000,
        thinking,
        effort=True,
        sampling=False,
        forced=forced,
        structured=True,
        searches=True,
        served=_ALL_SERVED,
    )


_FIVE = _five("by_default", forced=True)
_ALWAYS = _five("always", forced=False)

_FAMILIES: tuple[tuple[str, tuple[int, int], Family], ...] = (
    ("fable", (5, 0), _ALWAYS),
    ("mythos", (0, 0), _ALWAYS),
    ("opus", (5, 5), _ALWAYS),
    ("opus", (5, 0), _FIVE),
    ("opus", (4, 7), _FOUR_SEVEN),
    ("opus", (4, 6), _FOUR_SIX),
    ("opus", (4, 5), _FOUR_FIVE),
    ("opus", (4, 0), _OPUS_FOUR),
    ("sonnet", (5, 5), _five("between_tools", forced=False)),
    ("sonnet", (5, 0), _FIVE),
    ("sonnet", (4, 6), _FOUR_SIX),
    ("sonnet", (4, 5), _FOUR_FIVE),
    ("sonnet", (4, 0), _FOUR),
    ("sonnet", (3, 7), _THREE_SEVEN),
    ("haiku", (5, 0), _ALWAYS),
    ("haiku", (4, 5), _FOUR_FIVE),
    ("", (3, 5), _THREE_FIVE),
    ("", (0, 0), _OLD),
)
"""Each line of models from a version on, the newest first: a newer version than all here is as the newest."""

_LINES = "fable|haiku|mythos|opus|sonnet"
_VERSION = r"(\d)(?:[-.](\d{1,2}))?(?!\d)"
_NAMES = (
    re.compile(rf"claude-({_LINES})-{_VERSION}"),
    re.compile(rf"claude-{_VERSION}(?:-({_LINES}))?"),
)
_PREVIEW = re.compile(r"claude-(mythos)-preview")


@lru_cache(maxsize=256)
def family(model: str) -> Family:
    """The family of the model named so at Anthropic, Bedrock or Vertex AI; ``UNKNOWN`` for other names."""
    name = model.lower()
    if _PREVIEW.search(name):
        return _ALWAYS
    if found := _NAMES[0].search(name):
        line, major, minor = found.groups()
    elif found := _NAMES[1].search(name):
        major, minor, line = found.groups()
    else:
        return _OLD if "claude-instant" in name else UNKNOWN
    version = (int(major), int(minor or 0))
    rows = (each for own, least, each in _FAMILIES if own in ("", line) and version >= least)
    return next(rows)
