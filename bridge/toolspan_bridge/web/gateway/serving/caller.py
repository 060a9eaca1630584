"""Who asks the gateway, and what the key that is asked with allows."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ....loop import Question
from ....providers import Provider
from ....providers.prices import Pricing
from .choosing import Choice

if TYPE_CHECKING:
    from starlette.requests import Request

    from ...keys import Admission, VirtualKey, VirtualKeys

__all__ = ["Caller", "Paying", "Who", "admitted"]

_LEAST_USD = 1e-9
"""A limit under which a first turn is made: whether the budget allows it is seen when it is held."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The ``principal``, whose history, responses and presets are meant, and the virtual ``key`` that it
    asks with, if with one."""

    principal: str
    key: VirtualKey | None = None

    @property
    def key_name(self) -> str:
        """The key's name; empty without one."""
        return "" if self.key is None else self.key.name

    def check_model(self, choice: Choice, model: str) -> None:
        """Raise ``ModelNotAllowedError`` unless the key lets ``choice`` be asked by its name, or ``model``,
        which answers it, as ``provider/model``."""
        if self.key is not None and not (choice.name and self.key.allows_model(choice.name)):
            self.key.check_model(model)

    def allows_listed(self, model: str) -> bool:
        """Whether the model may be asked that is listed so."""
        return self.key is None or self.key.allows_model(model)

    def choosing(self, choice: Choice) -> Choice:
        """``choice`` with the toolset that the key allows. Raises ``ToolsetNotAllowedError``."""
        return choice if self.key is None else replace(choice, toolset=self.key.toolset(choice.toolset))


Who = Callable[["Request"], Caller]
"""Says who makes a request."""


@dataclass(frozen=True, slots=True)
class Paying:
    """How a run is paid: by the key of ``admission``, or, without one, by nobody whom it concerns here."""

    pricing_of: Callable[[Provider, str], Pricing]
    admission: Admission | None = None

    def provider(self, provider: Provider) -> Provider:
        """``provider``, whose requests are charged to the key."""
        if self.admission is None:
            return provider
        from ....loop.limits.charged import ChargedProvider

        return ChargedProvider(provider, self.admission, lambda model: self.pricing_of(provider, model))

    def limited(self, question: Question, provider: Provider) -> Question:
        """``question``, whose limit of cost is what is left of the key's budget, but for what its last turn
        holds."""
        left = None if self.admission is None else self.admission.left_usd
        pricing = self.pricing_of(provider, question.model)
        if not left or not pricing.is_known:
            return question
        from ....providers.spending_bounds import most_usd, pricings_at

        last = most_usd(pricings_at(provider, pricing), 0, question.max_tokens or 0) or 0.0
        limits, usd = question.limits, max(left - last, _LEAST_USD)
        return replace(question, limits=replace(limits, usd=min(usd, limits.usd or usd)))


@asynccontextmanager
async def admitted(
    caller: Caller, keys: Callable[[], VirtualKeys], pricing_of: Callable[[Provider, str], Pricing]
) -> AsyncGenerator[Paying]:
    """Let a request of ``caller`` through, for the block. Raises ``KeyRefusal``, ``StoreError``."""
    if caller.key is None:
        yield Paying(pricing_of)
        return
    async with keys().admitted(caller.key) as admission:
        yield Paying(pricing_of, admission)
