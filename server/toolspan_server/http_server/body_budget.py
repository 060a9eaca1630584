"""The bodies of all requests that are not answered yet, which together take a bounded share of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from .asgi import RefusedResponse

if TYPE_CHECKING:
    from ..config import LimitsConfig

SMALL = 16_384
"""What is not weighed, in bytes."""

_EACH_VALUE = 64


class Receiving(Protocol):
    """A connection on which a body arrives."""

    def refuse_body(self, refused: RefusedResponse) -> None:
        """Take no more of the body that arrives; its request is refused."""
        ...


class BodyBudget:
    """What the bodies hold, in bytes, within ``limits.bodies_bytes``.

    When that is exceeded, the unfinished body goes that began first, with ``refused``, of those that hold
    more than an equal share for each connection: small requests are always taken. No more than twice the
    limit is.
    """

    def __init__(self, limits: LimitsConfig, refused: RefusedResponse) -> None:
        self._most = limits.bodies_bytes
        self._share = limits.bodies_bytes // limits.connections
        self._large: dict[Receiving, None] = {}
        self._refused = refused
        self.held = 0

    def grew(self, connection: Receiving, by: int, to: int) -> bool:
        """Note that the body that arrives grew; false when it has to go itself."""
        self.held += by
        if to > self._share:
            self._large[connection] = None
        if self.held <= self._most or self.held == to or not self._large:
            return True
        oldest = next(iter(self._large))
        if oldest is connection:
            return False
        oldest.refuse_body(self._refused)
        return True

    def arrived(self, connection: Receiving) -> None:
        """The body is whole, or is not waited for any more."""
        self._large.pop(connection, None)

    def free(self, size: int) -> None:
        """A request is answered: its body is not kept any more."""
        self.held -= size


def weight(part: bytes, before: int) -> int:
    """What ``part`` of a body, after ``before`` bytes of it, is going to take in memory, once it is parsed.

    A short string is four bytes in JSON and sixty in memory; values are counted by their commas.
    """
    if before + len(part) <= SMALL:
        return len(part)
    return len(part) + _EACH_VALUE * part.count(b",")
