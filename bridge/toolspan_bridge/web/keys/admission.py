"""How a request goes through its key: authenticated, admitted, each turn held and settled, released."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio import to_thread

from toolspan_server.common.state.private_files import stat_private

from .refusals import UnknownKeyError, UnknownPriceError

if TYPE_CHECKING:
    from ...errors import BridgeError
    from ...loop.limits.account import Held
    from .store import KeyStore
    from .virtual_key import VirtualKey

__all__ = ["Admission", "VirtualKeys"]

_T = TypeVar("_T")
_THREADS = 8


class Admission:
    """A request that was let through: the ``Account`` that its turns are paid from. ``left_usd`` is what its
    key may still spend, ``None`` without a budget: a limit for the loop."""

    def __init__(self, keys: VirtualKeys, key: VirtualKey, number: int, left_usd: float | None) -> None:
        self.key = key
        self.left_usd = left_usd
        self.is_booked = True
        """Whether all that was settled is in the books."""
        self._keys = keys
        self._number = number

    shortens = True

    @property
    def has_budget(self) -> bool:
        """Whether the key has a budget."""
        return self.key.limits.has_budget

    @property
    def tokens_per_minute(self) -> int | None:
        """The key's limit."""
        return self.key.limits.tokens_per_minute

    async def hold(self, more: Held, held: Held | None = None) -> None:
        """Let the request take ``more`` in a turn than was ``held``.

        Raises ``RateLimitedError``, ``BudgetExceededError``, ``RevokedKeyError``, ``StoreError``.
        """
        del held
        if not (math.isfinite(more.usd) and more.usd >= 0):
            raise ValueError(f"no amount of money: {more.usd!r}")
        await self._keys.done(lambda store: store.ledger.hold(self.key, self._number, more))

    async def settle(self, held: Held, took: Held) -> None:
        """Write what the turn ``took`` for which was ``held``, at once."""
        with anyio.CancelScope(shield=True):
            self.is_booked = False
            await self._keys.done(
                lambda store: store.ledger.settle(self.key, self._number, held, took.tokens, took.usd)
            )
            self.is_booked = True

    async def unspent(self) -> float | None:
        """The US dollars of the nearest budget that are not spent, whoever holds them; ``None`` without a
        budget."""
        return await self._keys.done(lambda store: store.ledger.unspent(self.key))

    def unbounded(self, why: str, otherwise: str) -> BridgeError:
        """``UnknownPriceError`` with what may be done."""
        return UnknownPriceError(
            f"{why}, so that the budget of the key {self.key.name!r} would not hold: use a key without a "
            f"budget, or {otherwise}"
        )


class VirtualKeys:
    """The keys of a state ``folder`` for a server: nothing waits for the disk in its event loop, and the file
    of keys is opened when the first key is asked with. ``clock`` gives seconds since 1970."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._store: KeyStore | None = None
        self._opening = threading.Lock()
        self._threads = anyio.CapacityLimiter(_THREADS)

    async def authenticate(self, secret: str) -> VirtualKey:
        """The key that ``secret`` is. Raises ``KeyRefusal`` with status 401, ``StoreError``."""

        def authenticated() -> VirtualKey:
            from .store import KEYS_FILE

            if self._store is None and stat_private(self._folder / KEYS_FILE) is None:
                raise UnknownKeyError("the key is not known here (toolspan keys create makes one)")
            return self._opened().authenticated(secret)

        return await to_thread.run_sync(authenticated, limiter=self._threads)

    @asynccontextmanager
    async def admitted(self, key: VirtualKey) -> AsyncGenerator[Admission]:
        """Let a request through; what its turns hold is free when the block ends. Raises
        ``RateLimitedError``, ``StoreError``."""
        number = await self.done(lambda store: store.ledger.admit(key))
        admission: Admission | None = None
        try:
            left = await self.done(lambda store: store.ledger.left(key)) if key.limits.has_budget else None
            admission = Admission(self, key, number, left)
            yield admission
        finally:
            # What could not be written stays held until its lease ends, and counts then.
            if admission is None or admission.is_booked:
                with anyio.CancelScope(shield=True):
                    await self.done(lambda store: store.ledger.release(number))

    async def done(self, work: Callable[[KeyStore], _T]) -> _T:
        """What ``work`` gives, which may wait for the disk. Raises ``StoreError``."""
        return await to_thread.run_sync(lambda: work(self._opened()), limiter=self._threads)

    def close(self) -> None:
        """Let go of the file."""
        if self._store is not None:
            self._store.close()

    def _opened(self) -> KeyStore:
        from .store import KeyStore

        with self._opening:
            if self._store is None:
                self._store = KeyStore(self._folder, self._clock)
            return self._store
