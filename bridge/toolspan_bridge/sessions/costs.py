"""What questions cost."""

from __future__ import annotations

from dataclasses import dataclass

from ..events import Event, SamplingAnswer, SubagentEvent, UsageReported
from ..messages import Usage
from ..providers.prices import Pricing, has_prices, usd_data


@dataclass(slots=True)
class CostMeter:
    """Adds up the cost of a question's requests, in US dollars.

    ``usd`` is ``None`` from the first request on whose price is not known.
    """

    pricing: Pricing
    usd: float | None = 0.0
    last: Usage | None = None
    """The usage of the last turn: what it read and wrote is in the model's context."""

    def add(self, usage: Usage) -> None:
        """Add one request."""
        cost = self.pricing.cost(usage)
        self.usd = None if cost is None or self.usd is None else self.usd + cost

    def take(self, event: Event) -> None:
        """Add what ``event`` tells of a request, also of one that a sub-agent or a server made."""
        used = innermost(event) if isinstance(event, SubagentEvent) else event
        if isinstance(used, UsageReported) or (isinstance(used, SamplingAnswer) and used.model):
            self.add(used.usage)
        if isinstance(event, UsageReported):
            self.last = event.usage

    @property
    def may_be_known(self) -> bool:
        """Whether prices of the provider may be known, so that people are told."""
        return not self.pricing.own and has_prices(self.pricing.provider)


def cost_data(
    usd: float | None, conversation_usd: float | None = None, *, chat: bool = False
) -> dict[str, float | None]:
    """``{"usd"}``, and in a chat ``"conversation_usd"``: US dollars, ``null`` where they are unknown."""
    data = usd_data(usd)
    return data | {"conversation_usd": usd_data(conversation_usd)["usd"]} if chat else data


def innermost(event: SubagentEvent) -> Event:
    """What happens in the end: a sub-agent may have started another."""
    inner = event.event
    while isinstance(inner, SubagentEvent):
        inner = inner.event
    return inner
