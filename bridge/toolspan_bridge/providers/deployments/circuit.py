"""Whether a deployment is asked: not while it is known to fail, and then by one request first."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

__all__ = ["Circuit"]

_LONGEST = 16
_LONGEST_ASKED = 3_600.0


class Circuit:
    """Opens after ``failures`` in a row, for ``cooldown`` seconds or as long as the provider asks, at most an
    hour. After that one request probes while all others stay away; each failed probe doubles the cooldown,
    up to 16 times. The cooldown is up to a tenth longer, by chance, so that many processes do not probe at
    once."""

    def __init__(
        self,
        failures: int,
        cooldown: float,
        clock: Callable[[], float] = time.monotonic,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self._most = failures
        self._cooldown = cooldown
        self._clock = clock
        self._dice = dice
        self._failed = 0
        self._opened = 0
        self._until: float | None = None
        self._is_probed = False

    @property
    def wait(self) -> float:
        """The seconds until it may be asked, 0 where it may be now."""
        return 0.0 if self._until is None else max(0.0, self._until - self._clock())

    def take(self) -> bool:
        """Whether a request may be sent now; ``succeeded``, ``failed`` or ``left`` has to follow."""
        if self._until is None:
            return True
        if self._is_probed or self.wait > 0:
            return False
        self._is_probed = True
        return True

    def succeeded(self) -> None:
        """The deployment answered: it is asked as ever."""
        self._failed = self._opened = 0
        self._until = None
        self._is_probed = False

    def failed(self, asked: float | None = None) -> None:
        """It failed; the provider ``asked`` to wait so many seconds, if it said so."""
        self._failed += 1
        self._is_probed = False
        if asked is None and self._until is None and self._failed < self._most:
            return
        longer = self._cooldown * min(2**self._opened, _LONGEST) * (1 + self._dice() / 10)
        self._opened += 1
        self._until = self._clock() + (longer if asked is None else min(asked, _LONGEST_ASKED))

    def left(self) -> None:
        """The request ended without a verdict: its caller left, or it was wrong by itself."""
        self._is_probed = False
