"""``{contains: text}`` and ``{matches: pattern}``: what is in the answer's text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import override

from ..patterns import checked_pattern, checked_text, contains, matches


@dataclass(frozen=True, slots=True)
class TextRule:
    """A part, in any case (``contains``), or an RE2 pattern's match (``matches``)."""

    kind: Literal["contains", "matches"]
    text: str

    def holds(self, text: str) -> bool:
        """Whether ``text`` fulfils the rule."""
        return contains(text, self.text) if self.kind == "contains" else matches(text, self.text)

    @property
    def data(self) -> dict[str, Any]:
        """The rule as a suite's file has it."""
        return {self.kind: self.text}

    @override
    def __str__(self) -> str:
        return f"{'contain' if self.kind == 'contains' else 'match'} {self.text!r}"


def containing(operand: object) -> TextRule:
    """The rule of ``{contains: operand}``. Raises ``ValueError``."""
    return TextRule("contains", checked_text("contains", operand))


def matching(operand: object) -> TextRule:
    """The rule of ``{matches: operand}``. Raises ``ValueError``."""
    return TextRule("matches", checked_pattern("matches", operand))
