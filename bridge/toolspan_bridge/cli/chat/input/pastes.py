"""Long pasted texts, which the line shows as ``[pasted 120 lines]`` and which are sent whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count

__all__ = ["Pastes"]

_MOST_LINES = 8
_MOST_CHARACTERS = 2_000


class Pastes:
    """Each text that was folded, under the words that stand for it in the line."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """What stands for ``text`` in the line: itself, if it is short."""
        lines = len(text.split("\n")) - text.endswith("\n")
        if lines <= _MOST_LINES and len(text) <= _MOST_CHARACTERS:
            return text
        size = f"{lines:,} lines" if lines > _MOST_LINES else f"{len(text):,} characters"
        names = (f"[pasted {size}]" if n == 1 else f"[pasted {size}, the {n}th]" for n in count(1))
        name = next(each for each in names if self._texts.get(each, text) == text)
        self._texts[name] = text
        return name

    def expanded(self, line: str) -> str:
        """``line`` with each text in its place."""
        found = self.within(line)
        if not found:
            return line
        return re.sub("|".join(map(re.escape, found)), lambda match: found[match[0]], line)

    def within(self, line: str) -> dict[str, str]:
        """The folded texts of ``line``, by the words that stand for them."""
        return {name: text for name, text in self._texts.items() if name in line}

    def refolded(self, line: str, texts: Mapping[str, str]) -> str:
        """``line`` of another session, whose folded ``texts`` are kept here from now on."""
        known = {name: self.fold(text) for name, text in texts.items() if name in line}
        if not known:
            return line
        return re.sub("|".join(map(re.escape, known)), lambda match: known[match[0]], line)

    def ending(self, before: str) -> str:
        """The words at the end of ``before`` that stand for a text; empty if there are none."""
        return next((name for name in self._texts if before.endswith(name)), "")
