"""The ids of requests in batches: the same whenever the same trial asks the same again."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple
from weakref import WeakKeyDictionary

from ....messages import Request
from ...fingerprint import hash_of
from ...recording.requests import AskedBy
from ..attempt import Attempt, current_attempt

__all__ = ["RequestKeys"]

_HEX = 24


class RequestKeys:
    """Gives ids ``PLACE-REQUEST-N``: hashes of the trial's place and of what is asked, and a number for the
    same request that an attempt makes again."""

    def __init__(self) -> None:
        self._asked_by = AskedBy(lambda text: text)
        self._made: WeakKeyDictionary[Attempt, Counter[str]] = WeakKeyDictionary()

    def key(self, request: Request) -> str:
        """The id of ``request``, which the current attempt makes now."""
        attempt = current_attempt()
        if attempt is None:
            raise AssertionError("requests of a batch are made by trials")
        place = hash_of(astuple(attempt.place))[:_HEX]
        name = f"{place}-{self._asked_by.asked(request).hash[:_HEX]}"
        counted = self._made.setdefault(attempt, Counter())
        counted[name] += 1
        return f"{name}-{counted[name]}"
