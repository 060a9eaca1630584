"""Choices that a seed decides: the same on every machine, whatever was chosen before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choices:
    """What is chosen depends on ``key`` and on what is asked alone, so that one more tool changes no other's
    scenarios."""

    key: str

    def of(self, *labels: object) -> Choices:
        """The choices about ``labels``, independent of all others."""
        return Choices("/".join((self.key, *map(str, labels))))

    def number(self, low: int, high: int, label: str = "") -> int:
        """A whole number from ``low`` to ``high``, both included."""
        digest = hashlib.sha256(f"{self.key}#{label}".encode("utf-8", "surrogatepass")).digest()
        return low + int.from_bytes(digest[:8], "big") % (high - low + 1)

    def one(self, options: Sequence[T], label: str = "") -> T:
        """One of ``options``, of which there is at least one."""
        return options[self.number(0, len(options) - 1, label)]

    def shuffled(self, options: Iterable[T]) -> list[T]:
        """``options`` in another order, each with equal probability everywhere."""
        keyed = [(self.number(0, 2**63, str(place)), place, each) for place, each in enumerate(options)]
        return [each for *_, each in sorted(keyed, key=lambda item: item[:2])]
