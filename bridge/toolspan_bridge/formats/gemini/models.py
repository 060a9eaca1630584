"""What each line of Gemini's models takes, by the model's name: one table.

Sources, read in November 2026: google-genai 3.4.0 (types, docstrings) and ai.google.dev ("Thinking",
"Function calling", "Structured outputs", "Grounding", "URL context"). A name that does not show its
version, such as ``gemini-flash-latest``, gets what every model takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ...messages import ReasoningEffort

__all__ = ["Line", "line"]

_EVERY_TOOL = frozenset({"code_execution", "web_fetch", "web_search"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line of models. ``version`` is ``None`` where the name does not tell it.

    ``levels`` are the words for each effort, ``budgets`` the tokens for each: at most one of them is known.
    ``silenced``: whether the effort ``none`` keeps it from thinking. ``builtins`` are the tools of Google's
    that it has, ``mixes`` whether they may stand beside functions. ``validated``: whether a mode is known in
    which every call fits its schema. ``formatted``: whether the schema of the answer may be given, and
    ``formatted_with_tools`` whether beside tools too.
    """

    version: tuple[int, int] | None = None
    levels: Mapping[ReasoningEffort, str] | None = None
    budgets: Mapping[ReasoningEffort, int] | None = None
    silenced: bool = False
    builtins: frozenset[str] = _EVERY_TOOL

    @property
    def mixes(self) -> bool:
        return self._from(3, 0)

    @property
    def validated(self) -> bool:
        return self._from(2, 5)

    @property
    def formatted(self) -> bool:
        return self.version is None or self._from(2, 0)

    @property
    def formatted_with_tools(self) -> bool:
        return self._from(3, 0)

    def _from(self, *least: int) -> bool:
        return self.version is not None and self.version >= least


_TWO_LEVELS: Mapping[ReasoningEffort, str] = {"none": "LOW", "low": "LOW", "medium": "HIGH", "high": "HIGH"}
_THREE_LEVELS: Mapping[ReasoningEffort, str] = {**_TWO_LEVELS, "medium": "MEDIUM"}
_FOUR_LEVELS: Mapping[ReasoningEffort, str] = {**_THREE_LEVELS, "none": "MINIMAL"}
_PRO_TOKENS: Mapping[ReasoningEffort, int] = {"none": 128, "low": 1024, "medium": 8192, "high": 32_768}
_TOKENS: Mapping[ReasoningEffort, int] = {**_PRO_TOKENS, "none": 0, "high": 24_576}

_NAME = re.compile(r"gemini-(\d+)(?:\.(\d+))?(-[a-z-]+)?")
_SPEAKS_OR_DRAWS = re.compile(r"-(?:audio|image|live|tts)\b")


@lru_cache(maxsize=256)
def line(model: str) -> Line:
    """The line of the model of that name, also after ``models/`` or a publisher's name."""
    found = _NAME.search(model)
    if found is None:
        return Line()
    version = (int(found[1]), int(found[2] or 0))
    kind = found[3] or ""
    if version < (2, 5):
        old = frozenset[str]() if version < (2, 0) else _EVERY_TOOL - {"web_fetch"}
        return Line(version, builtins=old)
    if _SPEAKS_OR_DRAWS.search(model):
        return Line(version)
    light = "flash" in kind
    if version < (3, 0):
        return Line(version, budgets=_TOKENS if light else _PRO_TOKENS, silenced=light)
    if light:
        return Line(version, levels=_FOUR_LEVELS, silenced=True)
    return Line(version, levels=_TWO_LEVELS if version == (3, 0) else _THREE_LEVELS)
