"""Services that cost more than the standard price are not paid from a limited account, whoever chose them."""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import fields, replace
from typing import Any

import pytest
from typing_extensions import override

from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.obedient import MODELS
from tests.support.wire_peers import Peer, streamed, wires
from tests.support.wires import bedrock
from toolspan_bridge import Scripted
from toolspan_bridge.errors import ProviderError, UsageError
from toolspan_bridge.formats import get_format
from toolspan_bridge.loop.limits import Spending
from toolspan_bridge.loop.limits.charged import ChargedProvider
from toolspan_bridge.messages import Reply, Request, Usage, User
from toolspan_bridge.providers import resolve_model
from toolspan_bridge.providers.prices import Pricing, cost_of
from toolspan_bridge.providers.spending_bounds import Unbounded, most_input, most_usd
from toolspan_bridge.providers.wire.provider import WireProvider
from toolspan_bridge.providers.wire.two_wires import TwoWires
from toolspan_bridge.web.gateway import parameters

pytestmark = pytest.mark.requirement("I24.6.1")

GPT = Pricing("openai", "gpt-5.1")
CLAUDE = Pricing("anthropic", "claude-opus-4-6")
STANDARD = ("auto", "default", "flex", "standard_only")
PLAIN = {"top_p", "top_k", "min_p", "seed", "frequency_penalty", "presence_penalty", "repetition_penalty"} | {
    "logit_bias",
    "user",
    "verbosity",
}


def bound(**settings: Any) -> int:
    return most_input(Request("m", (User("hi"),), settings=settings), [GPT]).tokens


@pytest.mark.parametrize(
    "api", [parameters.CHAT, parameters.RESPONSES, parameters.MESSAGES], ids=["chat", "responses", "messages"]
)
def test_every_setting_that_a_client_may_send_changes_no_price_or_is_looked_at(
    api: parameters.Parameters,
) -> None:
    passed = {api.names.get(name, name) for name in api.passed}
    assert passed - {"service_tier"} <= PLAIN
    for name in passed - {"service_tier"}:
        assert bound(**{name: "x"}) == bound()


@pytest.mark.parametrize(
    "name", ["inference_geo", "speed", "background", "prediction", "modalities", "store", "new"]
)
def test_a_setting_that_is_not_known_to_change_no_price_has_no_bound(name: str) -> None:
    with pytest.raises(Unbounded, match=f"what the setting '{name}' costs is not known"):
        bound(**{name: "us"})


def test_every_member_of_a_request_has_a_bound_or_no_price() -> None:
    counted = {"messages", "system", "tools", "max_tokens", "answer_schema", "settings"}
    refused_or_off = {"builtins", "builtin_options", "defer_tools"}
    free = {"tool_choice", "temperature", "max_result_bytes", "parallel", "stream", "trim", "reasoning"}
    within_the_input = {"vision", "audio", "cache", "conversation"}
    ours = {"model", "wire", "meter", "caps_price"}
    known = counted | refused_or_off | free | within_the_input | ours
    assert {each.name for each in fields(Request)} == known


@pytest.mark.parametrize("tier", ["priority", "scale", "reserved", "ultrafast", "fast", "performance"])
def test_a_tier_that_may_cost_more_has_no_bound(tier: str) -> None:
    with pytest.raises(Unbounded, match=f"what the service tier '{tier}' costs is not known"):
        bound(service_tier=tier)


@pytest.mark.parametrize("tier", STANDARD)
def test_a_tier_of_the_standard_price_or_less_has_one(tier: str) -> None:
    assert bound(service_tier=tier) == bound()


@pytest.mark.anyio
async def test_a_question_within_a_limit_of_cost_is_not_asked_by_a_dearer_service() -> None:
    provider = Scripted([{"text": "hi"}])
    charged = Spending(1.0, otherwise="limit the tokens").charged(provider, GPT, "gpt-5.1")
    with pytest.raises(UsageError, match="the service tier 'priority'"):
        await charged.answer(Request("gpt-5.1", (User("hi"),), settings={"service_tier": "priority"}))
    assert provider.requests == []


PLACES: dict[str, tuple[str, str]] = {
    "openai/gpt-5.1": ("service_tier", "default"),
    "openai-chat/gpt-4o": ("service_tier", "default"),
    "openai-responses/gpt-5.1": ("service_tier", "default"),
    "azure/gpt-4o": ("service_tier", "default"),
    "azure/gpt-5.1": ("service_tier", "default"),
    "anthropic/claude-opus-4-6": ("service_tier", "standard_only"),
}


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "AZURE_OPENAI", "ANTHROPIC", "MISTRAL"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-x")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com")


async def body_of(model: str, **more: Any) -> dict[str, Any]:
    provider, name = resolve_model(model)
    async with aclosing(provider):
        assert isinstance(provider, WireProvider | TwoWires)
        sent = await provider.sent(Request(name, (User("hi"),), **more))
    found: dict[str, Any] = json.loads(sent.body)
    return found


@pytest.mark.anyio
@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("model", PLACES)
async def test_from_a_budget_the_standard_service_is_asked_for_by_name(model: str) -> None:
    key, word = PLACES[model]
    for tier in (None, "auto", "default", "standard_only"):
        settings = {} if tier is None else {"service_tier": tier}
        assert (await body_of(model, settings=settings, caps_price=True))[key] == word
        assert (await body_of(model, settings=settings)).get(key) in (None, tier)


@pytest.mark.anyio
@pytest.mark.usefixtures("keys")
async def test_what_is_cheaper_stays_where_the_provider_has_it() -> None:
    flex = {"service_tier": "flex"}
    assert (await body_of("openai/gpt-5.1", settings=flex, caps_price=True))["service_tier"] == "flex"
    asked = await body_of("anthropic/claude-opus-4-6", settings=flex, caps_price=True)
    assert asked["service_tier"] == "standard_only"
    assert "service_tier" not in await body_of("mistral/mistral-large-latest", caps_price=True)


def told(wire: str, tier: str) -> list[Reply]:
    """A whole answer, and the same in pieces, by the service ``tier``."""
    body, frames = wires(wire).answer("Yes."), wires(wire).frames("Yes.")
    holder = body["usage"] if wire == "anthropic" else body
    holder.update({"serviceTier": {"type": tier}} if wire == "bedrock" else {"service_tier": tier})
    whole = get_format(wire).parse_reply(body)
    if wire == "bedrock":
        *before, _ = frames
        frames = [
            *before,
            bedrock.written("metadata", {"usage": body["usage"], "serviceTier": {"type": tier}}),
        ]
    else:
        within = (
            b'"usage": {"service_tier": "%s", '
            if wire == "anthropic"
            else b'"service_tier": "%s", "usage": {'
        )
        frames = [frame.replace(b'"usage": {', within % tier.encode()) for frame in frames]
    parser = get_format(wire).parse_stream()
    for frame in frames:
        parser.feed(frame)
    return [whole, parser.end()]


@pytest.mark.parametrize("wire", ["openai", "openai-responses", "anthropic", "bedrock"])
def test_what_a_dearer_service_answered_has_no_known_price(wire: str) -> None:
    for tier, is_dearer in (("priority", True), ("default", False), ("standard", False), ("flex", False)):
        for reply in told(wire, tier):
            assert reply.usage.dearer is is_dearer, (tier, reply)
            cost = cost_of(GPT.provider, GPT.name, reply.usage)
            assert (cost is None) is is_dearer


@pytest.mark.anyio
async def test_an_answer_by_a_dearer_service_costs_what_was_held() -> None:
    class Dear(Scripted):
        @override
        async def answer(self, request: Request) -> Reply:
            reply = await super().answer(request)
            return replace(reply, usage=replace(reply.usage, dearer=True))

    spending = Spending(1.0)
    provider = Dear([{"text": "hi", "usage": {"input_tokens": 50, "output_tokens": 5}}])
    await ChargedProvider(provider, spending, lambda _: GPT).answer(
        Request("m", (User("hi"),), max_tokens=99)
    )
    assert spending.spent >= 99 * 10e-6


def test_a_workspace_that_answers_in_one_part_of_the_world_pays_a_tenth_more() -> None:
    for place, factor in (("us", 1.1), ("global", 1.0), ("not_available", 1.0)):
        usage = Usage(1_000_000, raw=({"inference_geo": place},))
        assert CLAUDE.cost(usage) == pytest.approx(5 * factor)
    assert most_usd([CLAUDE], 1_000_000, 0) == pytest.approx(6.25 * 1.1)


@pytest.mark.parametrize("pricing", MODELS)
def test_a_long_context_is_held_at_its_own_price(pricing: Pricing) -> None:
    for tokens in (100_000, 250_000, 300_000):
        most, cost = most_usd([pricing], tokens, 1_000), pricing.cost(Usage(tokens, 1_000))
        assert most is not None and cost is not None and most >= cost


@pytest.mark.anyio
@pytest.mark.parametrize("in_pieces", [False, True], ids=["whole", "streamed"])
async def test_a_service_that_a_model_does_not_have_is_the_providers_refusal(in_pieces: bool) -> None:
    """Without it the account's own default would answer, this time and from then on."""

    class Refusing(FakeProvider):
        @override
        def respond(self, request: Received) -> Sent:
            self.received.append(request)
            if request.body.get("service_tier") == "flex":
                said = "Invalid value: 'service_tier' flex is not supported with this model."
                return Sent(wires("openai").error(said, "invalid_request_error"), status=400)
            if request.body.get("stream"):
                return streamed("openai", *wires("openai").frames("Yes."))
            return Sent(wires("openai").answer("Yes."))

    with Refusing(anything, []) as fake:
        async with aclosing(Peer("openai", fake.url)) as provider:
            asked = Request("m", (User("hi"),), stream=in_pieces, settings={"service_tier": "flex"})
            with pytest.raises(ProviderError, match="service_tier"):
                await _ended(provider, asked)
            await _ended(provider, replace(asked, settings={"service_tier": "default"}))
    assert [each.body.get("service_tier") for each in fake.received] == ["flex", "default"]


async def _ended(provider: Peer, asked: Request) -> None:
    if not asked.stream:
        await provider.answer(asked)
        return
    async with aclosing(provider.stream(asked)) as items:
        async for _ in items:
            pass
