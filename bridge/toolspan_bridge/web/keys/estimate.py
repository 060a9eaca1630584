"""What a request may cost, before it is made."""

from __future__ import annotations

from ...messages import Usage
from ...providers import Provider
from ...providers.deployments import DeploymentsProvider
from ...providers.prices import Pricing
from .refusals import UnknownPriceError

__all__ = ["USUAL_OUTPUT_TOKENS", "reserved_usd", "reserved_usd_at"]

USUAL_OUTPUT_TOKENS = 4_096
"""The tokens of an answer for which money is held where the request sets no limit of its own."""


def reserved_usd(pricing: Pricing, input_tokens: int, max_tokens: int | None) -> float:
    """What a request of ``input_tokens`` may cost with an answer of ``max_tokens``, in US dollars.

    Raises ``UnknownPriceError`` where no price is known: a budget could not be kept.
    """
    if pricing.is_free:
        return 0.0
    cost = pricing.cost(Usage(input_tokens, USUAL_OUTPUT_TOKENS if max_tokens is None else max_tokens))
    if cost is None:
        raise UnknownPriceError(
            f"no price of {pricing.model} is known, so that the key's budget would not hold: use a key "
            "without a budget, or a model with a price"
        )
    return cost


def reserved_usd_at(provider: Provider, pricing: Pricing, input_tokens: int, max_tokens: int | None) -> float:
    """The same at ``provider``, where requests cost what ``pricing`` says; of several deployments, at the
    dearest."""
    if isinstance(provider, DeploymentsProvider):
        prices = [each.pricing for each in provider.deployments]
        return max(reserved_usd(each, input_tokens, max_tokens) for each in prices)
    return reserved_usd(pricing, input_tokens, max_tokens)
