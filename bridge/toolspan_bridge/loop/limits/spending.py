"""Money that requests are paid from: what is held for them before they are sent, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Container, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from ...errors import BridgeError, UsageError
from ...providers.prices import Pricing, usd_text
from .account import Held
from .limits import Limits, LimitScope

if TYPE_CHECKING:
    from ...conversation import Conversation
    from ...providers import Provider

__all__ = ["CostLimitError", "FindModel", "Spending", "nearest_limit", "spending_within"]

_ROUNDING = 1e-12

FindModel = Callable[[str], Awaitable[tuple["Provider", str]]]


class CostLimitError(BridgeError):
    """A request was not made, since it may cost more than is left within a limit of ``spending``:
    ``wanted`` US dollars."""

    code = "cost_limit"

    def __init__(self, message: str, spending: Spending, wanted: float) -> None:
        super().__init__(message)
        self.spending = spending
        self.wanted = wanted


class Spending:
    """The ``Account`` of one process: requests that run side by side take ``limit`` US dollars together at
    most, ``None`` for any amount. ``what`` is the limit for people, ``otherwise`` what to write in its place.

    A request waits for others whose hold may become free. It fails with ``CostLimitError`` where that would
    not help, and ``is_over`` from then on.
    """

    tokens_per_minute = None

    def __init__(
        self, limit: float | None, what: str = "the limit", otherwise: str = "", *, shortens: bool = True
    ) -> None:
        self.limit = limit
        self.spent = 0.0
        self.shortens = shortens
        self.is_over = False
        self.least_usd = 0.0
        """What a request like the last one holds at least."""
        self._what = what
        self._otherwise = otherwise
        self._held: float = 0.0
        self._changed = anyio.Event()

    @property
    def has_budget(self) -> bool:
        """Whether there is a limit."""
        return self.limit is not None

    def limit_to(self, usd: float | None, what: str) -> None:
        """Let ``usd`` be the limit, which is ``what``."""
        self.limit, self._what, self.is_over = usd, what, False
        self._let_go(0.0)

    def charged(self, provider: Provider, pricing: Pricing, model: str) -> Provider:
        """``provider``, whose requests are paid from this; ``pricing`` is the price of ``model`` there."""
        if not self.has_budget:
            return provider
        from .charged import ChargedProvider

        def price(asked: str) -> Pricing:
            return pricing if asked == model else replace(pricing, name=asked)

        return ChargedProvider(provider, self, price)

    def charging(self, find: FindModel, own: Container[str]) -> FindModel:
        """``find``, whose models are paid from this; ``own`` are the config's providers."""

        async def found(model: str) -> tuple[Provider, str]:
            provider, name = await find(model)
            pricing = Pricing(provider.name, name, own=provider.name in own)
            return self.charged(provider, pricing, name), name

        return found

    async def hold(self, more: Held, held: Held) -> None:
        """As ``Account`` says. Raises ``CostLimitError``."""
        wanted = held.usd + more.usd
        self.least_usd = more.least_usd
        if not (math.isfinite(wanted) and more.usd >= 0):
            raise ValueError(f"no amount of money: {more.usd!r}")
        self._let_go(held.usd)  # who waits holds nothing, so that nobody waits for who waits
        try:
            if not await self._takes(wanted):
                with _waiting():
                    while not await self._takes(wanted):
                        await self._changes()
        except BaseException:
            self._held += held.usd
            raise

    async def settle(self, held: Held, took: Held) -> None:
        """As ``Account`` says."""
        self.spent += took.usd
        self._let_go(held.usd)

    async def unspent(self) -> float | None:
        """As ``Account`` says."""
        return None if self.limit is None else max(0.0, self.limit - self.spent)

    def unbounded(self, why: str, otherwise: str) -> BridgeError:
        """As ``Account`` says."""
        return UsageError(f"{why}, so that {self._what} would not hold: {self._otherwise}, or {otherwise}")

    async def _takes(self, wanted: float) -> bool:
        """Hold ``wanted`` US dollars, unless others hold too much. Raises ``CostLimitError`` where they would
        be too much even if the others spent nothing."""
        self._check(wanted, self.spent)
        fits = self._fits(wanted, self.spent + self._held)
        self._held += wanted if fits else 0.0
        return fits

    async def _changes(self) -> None:
        """Wait until somebody may have let go of what was held."""
        await self._changed.wait()

    def _fits(self, wanted: float, used: float) -> bool:
        return self.limit is None or used + wanted <= self.limit + _ROUNDING

    def _check(self, wanted: float, spent: float) -> None:
        if self._fits(wanted, spent):
            return
        self.is_over = True
        left = usd_text(max(0.0, (self.limit or 0.0) - spent))
        raise CostLimitError(
            f"the next request may cost {usd_text(wanted)}, and {left} of {self._what} is left", self, wanted
        )

    def _let_go(self, usd: float) -> None:
        self._held = max(0.0, self._held - usd)
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


def spending_within(own: Limits, whole: Limits, conversation: Conversation) -> Spending:
    """What a question may spend within its ``own`` limits and those of its ``whole`` conversation."""
    limits: dict[LimitScope, Limits] = {"question": own, "conversation": whole}
    spending = Spending(None, otherwise="limit the tokens (--max-total-tokens) in place of the cost")
    spending.limit_to(*nearest_limit(limits, 0.0 if conversation.usd is None else conversation.usd))
    return spending


def nearest_limit(limits: Mapping[LimitScope, Limits], before: float) -> tuple[float | None, str]:
    """The US dollars that a question may cost in a conversation that cost so much ``before``, and the limit
    that says so, for people."""
    found = [
        (max(0.0, each.usd - (before if scope == "conversation" else 0.0)), scope, each.usd)
        for scope, each in limits.items()
        if each.usd is not None
    ]
    if not found:
        return None, ""
    left, scope, usd = min(found)
    return left, f"the limit of {usd_text(usd)} for this {scope}"


def _waiting() -> AbstractContextManager[None]:
    """What a wait for others' requests is told to: the provider does nothing in it."""
    from ...providers.http.retry import while_held_back

    held_back = while_held_back.get()
    return held_back() if held_back else nullcontext()
