"""What questions cost, for people and as data."""

from __future__ import annotations

from dataclasses import dataclass

from ...messages import Usage
from ...providers.prices import Pricing, has_prices, usd_data, usd_text


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


def cost_line(usd: float | None, conversation_usd: float | None = None, *, chat: bool = False) -> str:
    """``cost: $0.0021``, and in a chat that of the conversation."""
    line = f"cost: {usd_text(usd)}"
    return f"{line}; of the conversation: {usd_text(conversation_usd)}" if chat else line
