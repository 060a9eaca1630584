"""What a request costs: by the table, by the provider's own word, or unknown."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from genai_prices import Usage as TableUsage
from genai_prices import calc_price
from genai_prices.data_snapshot import get_snapshot

from toolspan_bridge.messages import Usage
from toolspan_bridge.providers import provider_names
from toolspan_bridge.providers.prices import Pricing, cost_of, has_prices, price_of, total_usd
from toolspan_bridge.providers.spending_bounds import most_usd

pytestmark = pytest.mark.requirement("I11.3.2")

OPUS = ("anthropic", "claude-opus-4-5")
"""Dollars for a million tokens: 5 in, 0.5 read from the cache, 6.25 put there, 25 out."""


_TABLE_NAMES = {
    "anthropic": "anthropic",
    "aws": "bedrock",
    "google": "gemini",
    "openai": "openai",
    "x-ai": "xai",
}


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(input_tokens=1_000_000), 5),
        (Usage(input_tokens=1_000_000, cached_tokens=1_000_000), 0.5),
        (Usage(input_tokens=1_000_000, written_tokens=1_000_000), 6.25),
        (Usage(input_tokens=1_000_000, cached_tokens=500_000, written_tokens=100_000), 2.875),
        (Usage(input_tokens=1, output_tokens=1_000_000), 25.000005),
        (Usage(input_tokens=1, output_tokens=1_000_000, reasoning_tokens=900_000), 25.000005),
    ],
)
def test_each_sort_of_token_has_its_price(usage: Usage, dollars: float) -> None:
    assert cost_of(*OPUS, usage) == pytest.approx(dollars)


@pytest.mark.requirement("I14.6.21")
def test_looked_up_prices_add_up_to_what_the_table_says_of_every_model() -> None:
    counts = [
        (1_000, 0, 0, 100),
        (1_000, 400, 0, 7),
        (1_000, 0, 300, 0),
        (300_000, 250_000, 40_000, 9_000),
        (0, 0, 0, 3),
    ]
    compared = 0
    for provider in get_snapshot().providers:
        name = _TABLE_NAMES.get(provider.id)
        for model in provider.models if name else ():
            for tokens in counts:
                asked = TableUsage(
                    input_tokens=tokens[0],
                    cache_read_tokens=tokens[1],
                    cache_write_tokens=tokens[2],
                    output_tokens=tokens[3],
                )
                try:
                    wanted = float(calc_price(asked, model.id, provider_id=provider.id).total_price)
                except (LookupError, ValueError):
                    continue
                used = dict(
                    zip(
                        ("input_tokens", "cached_tokens", "written_tokens", "output_tokens"),
                        tokens,
                        strict=True,
                    )
                )
                assert cost_of(str(name), model.id, Usage(**used)) == pytest.approx(wanted, rel=1e-12)
                compared += 1
    assert compared > 1_000


def test_what_is_not_known_is_unknown_and_never_nothing() -> None:
    tokens = Usage(input_tokens=5, output_tokens=5)
    assert cost_of("anthropic", "no-such-model", tokens) is None
    assert cost_of("gateway", "claude-opus-4-5", tokens) is None
    assert cost_of(*OPUS, Usage()) is None
    assert cost_of(*OPUS, Usage(input_tokens=1, cached_tokens=5)) is None
    assert price_of("gateway", "m").input is None


def test_a_sum_of_which_a_part_is_unknown_is_unknown() -> None:
    assert total_usd([0.25, 0.5]) == 0.75
    assert total_usd([0.25, None]) is None
    assert total_usd([]) is None


def test_openrouter_tells_its_cost_itself() -> None:
    raw = ({"cost": 0.25}, {"cost": 0.5})
    assert cost_of("openrouter", "some/model", Usage(1, 1, raw=raw)) == 0.75
    assert cost_of("openrouter", "some/model", Usage(1, 1, raw=({"cost": "?"},))) is None
    assert cost_of("anthropic", "no-such-model", Usage(1, 1, raw=raw)) is None


def test_the_table_knows_models_by_the_names_of_their_providers_here() -> None:
    for provider, model in (
        OPUS,
        ("openai", "gpt-5"),
        ("openai-responses", "gpt-5"),
        ("azure", "gpt-4o"),
        ("gemini", "gemini-2.5-pro"),
        ("vertex", "gemini-2.5-pro"),
        ("vertex-claude", "claude-sonnet-4-5@20250929"),
        ("foundry", "gpt-5"),
        ("bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("mistral", "mistral-large-latest"),
        ("deepseek", "deepseek-chat"),
        ("xai", "grok-4"),
        ("groq", "openai/gpt-oss-120b"),
    ):
        found = price_of(provider, model)
        assert found.input and found.output, (provider, model)
    assert price_of("openai", "gpt-5").context == 400_000
    names = provider_names()
    assert all(has_prices(name) for name in names if name.startswith(("openai", "vertex", "azure")))
    assert not has_prices("ollama") and {"openai", "xai"} < {n for n in names if has_prices(n)}


COUNTED = {
    "input_mtok",
    "output_mtok",
    "cache_read_mtok",
    "cache_write_mtok",
    "cache_write_1h_mtok",
    "input_audio_mtok",
    "cache_audio_read_mtok",
    "web_searches_kcount",
    "storage_searches_kcount",
}
"""What a budget counts, or what no request that is paid from one can ask for."""


@pytest.mark.requirement("I24.6.1")
def test_no_bound_is_known_of_any_model_of_the_table_with_a_price_that_is_not_counted() -> None:
    refused = 0
    for provider in get_snapshot().providers:
        name = _TABLE_NAMES.get(provider.id)
        for model in provider.models if name else ():
            prices = {
                key for key, price in vars(model.get_prices(datetime.now(UTC))).items() if price is not None
            }
            if prices - COUNTED:
                pricing = Pricing(name or "", model.id)
                assert pricing.unbounded, model.id
                assert not pricing.is_known, model.id
                assert most_usd([pricing], 1_000, 1_000) is None, model.id
                refused += 1
    assert refused > 20
    assert most_usd([Pricing("openai", "gpt-4o-mini")], 1_000, 1_000)


@pytest.mark.requirement("I24.6.1")
@pytest.mark.parametrize(
    ("provider", "model", "why"),
    [
        ("gemini", "gemini-2.5-flash-image", "output_image_mtok"),
        ("openai-chat", "gpt-4o-mini-search-preview", "searches by itself"),
        ("openai", "o4-mini-deep-research", "searches by itself"),
        ("openrouter", "perplexity/sonar", "searches by itself"),
        ("openrouter", "perplexity/sonar-pro", "searches by itself"),
        ("openrouter", "openai/gpt-4o:online", "searches by itself"),
        ("nobody", "m", "no price of nobody/m is known"),
    ],
)
def test_a_model_whose_requests_may_cost_more_than_their_tokens_has_no_bound(
    provider: str, model: str, why: str
) -> None:
    assert why in Pricing(provider, model).unbounded
    assert most_usd([Pricing(provider, model)], 1_000, 1_000) is None


@pytest.mark.requirement("I24.6.1")
@pytest.mark.parametrize("cost", [float("inf"), float("nan"), 1e300, 10**400, 1e12, -1, True, "0.1"])
def test_what_is_no_amount_of_money_is_no_cost(cost: object) -> None:
    usage = Usage(10, 16, raw=({"cost": cost},))
    assert cost_of("openrouter", "openai/gpt-4o", usage) is None
