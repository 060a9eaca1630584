"""What pays requests: the interface, and what it holds for one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ...errors import BridgeError

__all__ = ["Account", "Held"]


@dataclass(frozen=True, slots=True)
class Held:
    """What a request may take: so many ``tokens``, and US dollars; ``least_usd`` of them where its answer is
    as short as can be."""

    tokens: int = 0
    usd: float = 0.0
    least_usd: float = 0.0


class Account(Protocol):
    """Pays requests. ``has_budget``: it has a limit of money; ``tokens_per_minute`` is a limit of tokens.
    ``shortens``: a request without a limit of output may get a lower one than is usual, where no more is
    left."""

    @property
    def has_budget(self) -> bool: ...

    @property
    def tokens_per_minute(self) -> int | None: ...

    @property
    def shortens(self) -> bool: ...

    async def hold(self, more: Held, held: Held) -> None:
        """Let a request take ``more`` than it has ``held`` so far. Raises ``BridgeError`` where it may
        not; what was held stays held."""
        ...

    async def settle(self, held: Held, took: Held) -> None:
        """Write what a request ``took`` for which was ``held``."""
        ...

    async def unspent(self) -> float | None:
        """The US dollars that are not spent, whoever holds them; ``None`` without a limit."""
        ...

    def unbounded(self, why: str, otherwise: str) -> BridgeError:
        """The error that no bound of a request's cost is known: ``why``, and what may be done
        ``otherwise`` than to ask without the limit."""
        ...
