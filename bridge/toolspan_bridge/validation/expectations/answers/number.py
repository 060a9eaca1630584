"""``{number: {value: 6.75, within: 0.01}}``: the answer names such a number; it may be ``1,000.5``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from ..numbers import checked_within, is_within

_NUMBER = re.compile(r"[-−]?\d[\d,]{0,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?")


@dataclass(frozen=True, slots=True)
class NumberRule:
    """Some number of the text is at most ``within`` from ``value``."""

    value: float
    within: float

    def holds(self, text: str) -> bool:
        """Whether ``text`` names such a number."""
        found = (match.group().replace(",", "").replace("−", "-") for match in _NUMBER.finditer(text))
        return any(is_within(float(each), self.value, self.within) for each in found)

    @property
    def data(self) -> dict[str, Any]:
        """The rule as a suite's file has it."""
        return {"number": {"value": self.value, "within": self.within}}

    @override
    def __str__(self) -> str:
        return f"name {self.value} ± {self.within}"


def number(operand: object) -> NumberRule:
    """The rule of ``{number: operand}``. Raises ``ValueError``."""
    return NumberRule(*checked_within("number", operand))
