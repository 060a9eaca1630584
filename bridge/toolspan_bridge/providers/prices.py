"""What models cost, by the price table that comes with ``genai-prices``: nothing is asked over a network."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeGuard

from ..messages import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

__all__ = [
    "ModelPrice",
    "Pricing",
    "cost_of",
    "has_prices",
    "is_amount",
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
_MILLION = 1_000_000
_BOUNDED = frozenset(
    {
        "input_mtok",
        "output_mtok",
        "cache_read_mtok",
        "cache_write_mtok",
        "cache_write_1h_mtok",  # nothing is asked to be kept for an hour
        "input_audio_mtok",  # sound is refused under a budget, and so are tools of the provider's own
        "cache_audio_read_mtok",
        "web_searches_kcount",
        "storage_searches_kcount",
    }
)
"""The prices of the table whose amounts are counted, or cannot come up under a budget."""
_SEARCHES = re.compile(r"search|sonar|compound|:online", re.IGNORECASE)
"""In the names of models that search by themselves, which is paid beside their tokens."""
_MOST_USD = 1_000_000.0
"""More than any request costs."""
_FREE = ("offline", "scripted")
_SURCHARGES = {"anthropic": Decimal("1.1")}
"""What a dollar of the table costs where a workspace has its requests answered in one part of the world.
Source: platform.claude.com, "Data residency", read in November 2026."""
_ANYWHERE = (None, "", "global", "not_available")
"""What Anthropic says of the place of an answer that costs no more."""
_DEPLOYMENTS = "models"
_SAYS_ITSELF = ("openrouter", _DEPLOYMENTS)
"""The providers whose usage has the cost: OpenRouter, and models of a config's own."""


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
        """Whether the most that a request costs is known, so that it can be limited; ``models`` of a config
        are known by what stands behind them."""
        return not self.own and (self.provider == _DEPLOYMENTS or not self.unbounded)

    @property
    def most_surcharge(self) -> float:
        """The most that is paid for each dollar of the table, as the account is set up."""
        return float(_SURCHARGES.get(self.provider, 1))

    @property
    def unbounded(self) -> str:
        """Why no bound of a request's cost is known before it is sent; empty where one is."""
        if self.is_free:
            return ""
        table = None if self.own else _IN_TABLE.get(self.provider)
        if table is not None and _SEARCHES.search(self.name):
            return f"{self.model} searches by itself, and what that costs is not known before"
        left = _left_out(table, self.name, int(time.time() // 60))
        if left is None:
            return f"no price of {self.model} is known"
        return f"{self.model} has prices that are not counted ({', '.join(left)})" if left else ""

    def cost(self, usage: Usage) -> float | None:
        """What one request with ``usage`` cost, in US dollars; ``None`` when it is not known."""
        return None if self.own else cost_of(self.provider, self.name, usage)


def has_prices(provider: str) -> bool:
    """Whether the table may know models of ``provider``."""
    return provider in _IN_TABLE


def cost_of(provider: str, model: str, usage: Usage) -> float | None:
    """What one request with ``usage`` cost, in US dollars: as the provider itself says, else by the table.

    ``None`` when the price of the model or of a sort of its tokens is not known, or the provider says that a
    dearer service answered. Tokens that were read from
    a cache or put there, and those of reasoning, count at their own prices.
    """
    own = [raw.get("cost") for raw in usage.raw]
    if provider in _SAYS_ITSELF and any(cost is not None for cost in own):
        said = [cost for cost in own if cost is not None and is_amount(cost)]
        return float(sum(said)) if len(said) == len(own) else None
    table = _IN_TABLE.get(provider)
    if table is None or usage.dearer or not (usage.input_tokens or usage.output_tokens):
        return None
    cost = _by_table(table, model, usage)
    return None if cost is None else float(cost * _surcharge(provider, usage))


def _by_table(table: str, model: str, usage: Usage) -> Decimal | None:
    counts = usage.input_tokens, usage.cached_tokens, usage.written_tokens, usage.output_tokens
    apart = counts[0] - counts[1] - counts[2], *counts[1:]
    prices = _per_million(table, model, int(time.time() // 60)) if apart[0] >= 0 else ()
    used = [(count, price) for count, price in zip(apart, prices, strict=False) if count]
    known = [count * price for count, price in used if price is not None]
    if prices and len(known) == len(used):
        return sum(known, Decimal(0)) / _MILLION
    return _table_cost(table, model, counts)


def _surcharge(provider: str, usage: Usage) -> Decimal:
    """What an answer costs for each dollar of the table."""
    where = (raw.get("inference_geo") for raw in usage.raw)
    is_anywhere = all(place in _ANYWHERE for place in where)
    return Decimal(1) if is_anywhere else _SURCHARGES.get(provider, Decimal(1))


@lru_cache(maxsize=1024)
def _left_out(table: str | None, model: str, minute: int) -> tuple[str, ...] | None:
    """The prices of ``model`` in that ``minute`` that are not ``_BOUNDED``; ``None`` where it has none."""
    del minute
    found = _in_table(table, model)
    prices = (
        {} if found is None else {name: price for name, price in _prices(found).items() if price is not None}
    )
    if not {"input_mtok", "output_mtok"} <= prices.keys():
        return None
    return tuple(sorted(prices.keys() - _BOUNDED))


@lru_cache(maxsize=256)
def _per_million(table: str, model: str, minute: int) -> tuple[Decimal | None, ...]:
    """What a million tokens cost in that ``minute`` that are read, read from a cache, put there, and written,
    ``None`` where it is not known; empty where the price depends on how many there are. The table takes half
    a millisecond for each request, and prices may change by the hour."""
    del minute
    found = _in_table(table, model)
    if found is None or not all(_is_by_count(*price) for price in _prices(found).items()):
        return ()
    kinds = (_MILLION, 0, 0, 0), (_MILLION, _MILLION, 0, 0), (_MILLION, 0, _MILLION, 0), (0, 0, 0, _MILLION)
    return tuple(_table_cost(table, model, counts) for counts in kinds)


def _is_by_count(name: str, price: object) -> bool:
    """Whether nothing is paid for the request itself, and a token costs the same however many there are."""
    return price is None or (name != "requests_kcount" and not hasattr(price, "tiers"))


def _table_cost(table: str, model: str, counts: tuple[int, int, int, int]) -> Decimal | None:
    from genai_prices import Usage as TableUsage
    from genai_prices import calc_price

    names = "input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"
    try:
        tokens = TableUsage(**dict(zip(names, counts, strict=True)))
        return calc_price(tokens, model, provider_id=table).total_price
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
    prices = _prices(found)
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


def _prices(model: ModelInfo) -> Mapping[str, Any]:
    return vars(model.get_prices(datetime.now(UTC)))


def _amount(price: Any) -> float | None:
    base = getattr(price, "base", price)
    return float(base) if isinstance(base, Decimal | int | float) else None


def is_amount(cost: object) -> TypeGuard[float]:
    """Whether ``cost`` may be what a request cost: a number, finite and not beyond all reason."""
    return isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost <= _MOST_USD
