"""Finds calls that go round in circles: the same one, or two or three in turn, with the same results.

What changes its result, as a status does that is asked for again and again, is no such call.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..messages import ToolOutcome, ToolSpec

__all__ = ["LONGEST", "ROUNDS", "Cycles"]

LONGEST = 3
"""The most different calls that make a cycle."""
ROUNDS = 2
"""How often a cycle may come."""
_OF_THE_MOMENT = ("execution_time_ms",)


@dataclass(slots=True)
class _Made:
    call: str
    result: str | None = None
    """``None`` until it has come; it may then be as any other."""

    def equals(self, other: _Made) -> bool:
        known = self.result is not None and other.result is not None
        return self.call == other.call and (not known or self.result == other.result)


class Cycles:
    """The calls of one question, in order. ``found`` says whether one was stopped."""

    def __init__(self) -> None:
        self.found = False
        self._made: list[_Made] = []
        self._waiting: dict[str, _Made] = {}

    def stops(self, spec: ToolSpec, arguments: Mapping[str, Any], call_id: str) -> bool:
        """Whether this call would begin a further round of what brought the same before; else it is noted."""
        call = json.dumps([*spec.key, dict(arguments)], sort_keys=True, default=str)
        for length in range(1, LONGEST + 1):
            rounds = self._made[-length * ROUNDS :]
            first = rounds[:length]
            if len(rounds) < length * ROUNDS or first[0].call != call:
                continue
            if all(made.equals(first[place % length]) for place, made in enumerate(rounds)):
                self._made.append(_Made(call, first[0].result))
                self.found = True
                return True
        self._waiting[call_id] = _Made(call)
        self._made.append(self._waiting[call_id])
        return False

    def ended(self, outcome: ToolOutcome) -> None:
        """Note what came of a call."""
        made = self._waiting.pop(outcome.call_id, None)
        if made is not None:
            shown = {name: value for name, value in outcome.result.items() if name not in _OF_THE_MOMENT}
            made.result = hashlib.sha256(json.dumps(shown, sort_keys=True, default=str).encode()).hexdigest()
