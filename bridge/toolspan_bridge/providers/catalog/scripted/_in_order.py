"""A script whose turns are given one for each request, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....errors import BridgeError, ProviderError
from ....messages import Reply, Request
from ._turns import RecordedTurn, given, read_turn

__all__ = ["InOrder", "Turn"]

Turn = Reply | BridgeError | Mapping[str, Any]


class InOrder:
    """Picks each turn once. Raises ``UsageError`` at once when one is not as the package says."""

    def __init__(self, turns: Sequence[Turn], source: str) -> None:
        self._source = source
        self._asked = 0
        self._turns = [
            read_turn(turn, f"{source}: $.turns[{place}]") if isinstance(turn, Mapping) else given(turn)
            for place, turn in enumerate(turns)
        ]

    def next(self, request: Request) -> RecordedTurn:
        """The turn after the last one. Raises ``ProviderError`` when there are no more."""
        place = self._asked
        self._asked += 1
        if place >= len(self._turns):
            raise ProviderError(
                f"{self._source} ends after turn {len(self._turns)} and was asked for one more: add it"
            )
        return self._turns[place]
