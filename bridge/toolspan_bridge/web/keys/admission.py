"""How a request goes through its key: authenticated, admitted, charged, released."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from .refusals import UnknownPriceError

if TYPE_CHECKING:
    from .store import KeyStore
    from .virtual_key import VirtualKey

__all__ = ["Admission", "VirtualKeys"]

_THREADS = 8


class Admission:
    """A request that was let through. ``left_usd`` is what its key may still spend, ``None`` without a
    budget: a limit for the loop."""

    def __init__(self, keys: VirtualKeys, key: VirtualKey, number: int, left_usd: float | None) -> None:
        self.key = key
        self.number = number
        self.left_usd = left_usd
        self._keys = keys

    async def charge(self, tokens: int, usd: float | None) -> None:
        """Write what a turn of the request took, at once. ``usd`` is ``None`` where the cost is not known."""
        await self._keys.charge(self, tokens, usd or 0.0)


class VirtualKeys:
    """The keys of ``store`` for a server: nothing waits for the disk in its event loop."""

    def __init__(self, store: KeyStore) -> None:
        self.store = store
        self._threads = anyio.CapacityLimiter(_THREADS)

    async def authenticate(self, secret: str) -> VirtualKey:
        """The key that ``secret`` is. Raises ``KeyRefusal`` with status 401, ``StoreError``."""
        return await to_thread.run_sync(self.store.authenticated, secret, limiter=self._threads)

    @asynccontextmanager
    async def admitted(
        self, key: VirtualKey, *, tokens: int = 0, usd: float | None = 0.0
    ) -> AsyncGenerator[Admission]:
        """Let a request through that may take so many ``tokens`` and US dollars (``reserved_usd``); they are
        held until the block ends.

        Raises ``RateLimitedError``, ``BudgetExceededError``, ``StoreError``, and ``UnknownPriceError`` where
        the key has a budget and ``usd`` is ``None``.
        """
        if usd is None and key.limits.has_budget:
            raise UnknownPriceError(
                f"the key {key.name!r} has a budget, and what the model costs is not known: use a key "
                "without a budget, or a model with a price"
            )
        if usd is not None and not (math.isfinite(usd) and usd >= 0):
            raise ValueError(f"no amount of money: {usd!r}")
        ledger = self.store.ledger
        number = await to_thread.run_sync(ledger.admit, key, tokens, usd or 0.0, limiter=self._threads)
        try:
            left = await to_thread.run_sync(ledger.left, key, limiter=self._threads)
            yield Admission(self, key, number, left)
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(ledger.release, number, limiter=self._threads)

    async def charge(self, admission: Admission, tokens: int, usd: float) -> None:
        """Write what a request took. Raises ``StoreError``."""
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(
                self.store.ledger.charge,
                admission.key,
                admission.number,
                tokens,
                usd,
                limiter=self._threads,
            )
