"""What models cost, by the price table that comes with ``genai-prices``: nothing is asked over a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ..messages import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

__all__ = [
    "ModelPrice",
    "Pricing",
    "cost_of",
    "has_prices",
    "price_of",
    "total_usd",
    "usd_data",
    "usd_text",
]

_IN_TABLE = {
    "anthropic": "anthropic",
    "azure": "azure",
    "bedrock": "aws",
    "bedrock-anthropic": "aws",
    "cerebras": "cerebras",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "foundry": "azure",
    "gemini": "google",
    "groq": "groq",
    "minimax": "minimax",
    "mistral": "mistral",
    "moonshot": "moonshotai",
    "openai": "openai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "openrouter": "openrouter",
    "together": "together",
    "vertex": "google",
    "vertex-claude": "google",
    "xai": "x-ai",
    "zai": "zai",
}
"""The providers' names in the table."""
_FREE = ("offline", "scripted")
_SAYS_ITSELF = "openrouter"


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What the table has of a model: tokens of ``context``, and US dollars for a million tokens of ``input``
    and of ``output``, at the lowest tier. ``None`` is unknown."""

    context: int | None = None
    input: float | None = None
    output: float | None = None


@dataclass(frozen=True, slots=True)
class Pricing:
    """What requests to the model ``name`` at ``provider`` cost. ``own`` is a provider of the config's own:
    its prices are never those of the table."""

    provider: str
    name: str
    own: bool = False

    @property
    def model(self) -> str:
        """``provider/model``."""
        return f"{self.provider}/{self.name}"

    @property
    def is_free(self) -> bool:
        """Whether nothing is ever paid: the provider is a part of this program."""
        return not self.own and self.provider in _FREE

    @property
    def is_known(self) -> bool:
        """Whether the cost of a request will be known, so that it can be limited."""
        if self.own:
            return False
        if self.is_free or self.provider == _SAYS_ITSELF:
            return True
        price = price_of(self.provider, self.name)
        return price.input is not None and price.output is not None

    def cost(self, usage: Usage) -> float | None:
        """What one request with ``usage`` cost, in US dollars; ``None`` when it is not known."""
        return None if self.own else cost_of(self.provider, self.name, usage)


def has_prices(provider: str) -> bool:
    """Whether the table may know models of ``provider``."""
    return provider in _IN_TABLE


def cost_of(provider: str, model: str, usage: Usage) -> float | None:
    """What one request with ``usage`` cost, in US dollars: as the provider itself says, else by the table.

    ``None`` when the price of the model or of a sort of its tokens is not known. Tokens that were read from
    a cache or put there, and those of reasoning, count at their own prices.
    """
    own = [raw.get("cost") for raw in usage.raw]
    if provider == _SAYS_ITSELF and own and all(_is_amount(cost) for cost in own):
        return float(sum(cost for cost in own if cost is not None))
    table = _IN_TABLE.get(provider)
    if table is None or not (usage.input_tokens or usage.output_tokens):
        return None
    from genai_prices import Usage as TableUsage
    from genai_prices import calc_price

    tokens = TableUsage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.written_tokens,
        output_tokens=usage.output_tokens,
    )
    try:
        return float(calc_price(tokens, model, provider_id=table).total_price)
    except (LookupError, ValueError):
        return None


def total_usd(amounts: Iterable[float | None]) -> float | None:
    """The sum of ``amounts``; ``None`` where one of them is unknown, or there is none."""
    found = list(amounts)
    known = [amount for amount in found if amount is not None]
    return sum(known) if known and len(known) == len(found) else None


def usd_data(usd: float | None) -> dict[str, float | None]:
    """``{"usd"}``: US dollars, ``null`` where they are unknown."""
    return {"usd": None if usd is None else round(usd, 9)}


_TENTH_OF_A_CENT = 0.001


def usd_text(usd: float | None) -> str:
    """US dollars for people: ``$0.0380``, ``unknown``, ``$0``. There are four decimals, and of less than a
    tenth of a cent three digits: ``$0.000975``."""
    if not usd:
        return "unknown" if usd is None else "$0"
    return f"${usd:.4f}" if usd >= _TENTH_OF_A_CENT else f"${Decimal(f'{usd:.3g}'):f}"


def price_of(provider: str, model: str) -> ModelPrice:
    """What the table has of ``model`` at ``provider``, both by their names here."""
    found = _in_table(_IN_TABLE.get(provider), model)
    if found is None:
        return ModelPrice()
    prices: Mapping[str, Any] = vars(found.get_prices(datetime.now(UTC)))
    return ModelPrice(
        found.context_window, _amount(prices.get("input_mtok")), _amount(prices.get("output_mtok"))
    )


def _in_table(table: str | None, model: str) -> ModelInfo | None:
    if table is None:
        return None
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(model, None, table, None)[1]
    except LookupError:
        return None


def _amount(price: Any) -> float | None:
    base = getattr(price, "base", price)
    return float(base) if isinstance(base, Decimal | int | float) else None


def _is_amount(cost: object) -> bool:
    return isinstance(cost, int | float) and not isinstance(cost, bool) and cost >= 0
