"""Models of a config's own: the first deployment that answers does, over real sockets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.provider_settings import instant
from tests.support.wire_peers import streamed, wires
from toolspan_bridge.errors import (
    AuthError,
    ContextOverflowError,
    ProviderError,
    UnreachableError,
    UsageError,
)
from toolspan_bridge.messages import Assistant, Reply, Request, ToolSpec, Usage, User
from toolspan_bridge.messages.deltas import TextDelta
from toolspan_bridge.providers import ProviderPool, own_providers
from toolspan_bridge.providers.deployments import Tried, on_tried
from toolspan_bridge.providers.deployments.order import by_weight
from toolspan_bridge.providers.deployments.replies import with_cost
from toolspan_bridge.providers.prices import Pricing
from toolspan_server.config import Config

pytestmark = pytest.mark.anyio
OPENAI = wires("openai")
BUSY = Sent({"error": {"message": "slow down", "type": "rate_limit"}}, 429, {"retry-after": "30"})
BROKEN = Sent({"error": {"message": "oops", "type": "server_error"}}, 500)
LONG = Sent(
    {
        "error": {
            "message": "This model's maximum context length is 10 tokens",
            "code": "context_length_exceeded",
        }
    },
    400,
)
REFUSED = Sent({"error": {"message": "bad key", "type": "invalid_api_key"}}, 401)


def said(text: str) -> Sent:
    return Sent(OPENAI.answer(text))


def question(**more: Any) -> Request:
    return Request("fast", (User("Hello"),), **more)


@contextmanager
def providers(**replies: list[Sent]) -> Iterator[dict[str, FakeProvider]]:
    """A fake provider of each name, which gives these answers one after another."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(FakeProvider(anything, each)) for name, each in replies.items()}


def pool(fakes: dict[str, FakeProvider], *, larger: tuple[str, ...] = (), **more: Any) -> ProviderPool:
    """The model ``models/fast``, whose deployments are ``fakes``, those of ``larger`` for long requests."""
    model = {
        "deployments": [{"model": f"{name}/m"} for name in fakes if name not in larger],
        "larger_context": [{"model": f"{name}/m"} for name in larger],
        **more,
    }
    own = {name: {"base_url": fake.url} for name, fake in fakes.items()}
    return ProviderPool(
        Config.model_validate({"providers": own, "models": {"fast": model}}), settings=instant()
    )


async def answered(pool: ProviderPool, request: Request | None = None) -> Reply:
    provider, name = await pool.get("models/fast")
    assert name == "fast"
    return await provider.answer(request or question())


@contextmanager
def told() -> Iterator[list[Tried]]:
    found: list[Tried] = []
    token = on_tried.set(found.append)
    try:
        yield found
    finally:
        on_tried.reset(token)


@pytest.mark.requirement("I15.3.50")
@pytest.mark.parametrize(
    "failure",
    [BUSY, BROKEN, Sent(hang_up=True), Sent(b"<html>", 200, {"content-type": "text/html"})],
    ids=["429", "500", "hang up", "no API"],
)
async def test_the_next_deployment_answers_where_one_fails_and_it_is_said(failure: Sent) -> None:
    with providers(first=[failure], second=[said("fine")]) as fakes, told() as tried:
        async with pool(fakes) as models:
            reply = await answered(models)
    assert reply.message.text == "fine"
    assert [(each.deployment, each.outcome) for each in tried] == [
        ("first/m", "failed"),
        ("second/m", "answered"),
    ]
    assert "first/m was not used" in reply.notes[0]
    assert reply.notes[0].endswith("second/m answers")
    assert fakes["second"].received[0].body["model"] == "m"


@pytest.mark.requirement("I15.3.50")
async def test_a_deployment_that_hangs_gives_way_to_the_next() -> None:
    with providers(first=[Sent(stall=True)], second=[said("fine")]) as fakes:
        async with pool(fakes, timeout_seconds=0.05) as models:
            reply = await answered(models)
    assert reply.message.text == "fine"
    assert "did not begin to answer within 0.05 s" in reply.notes[0]


@pytest.mark.requirement("I15.3.50")
@pytest.mark.parametrize(("failure", "error"), [(REFUSED, AuthError), (LONG, ContextOverflowError)])
async def test_a_refused_key_and_a_request_that_is_too_long_are_told_and_not_hidden(
    failure: Sent, error: type[Exception]
) -> None:
    with providers(first=[failure], second=[said("never")]) as fakes:
        async with pool(fakes) as models:
            with pytest.raises(error):
                await answered(models)
        assert fakes["second"].received == []


@pytest.mark.requirement("I15.3.51")
async def test_a_request_that_is_too_long_goes_to_the_models_with_more_context_alone() -> None:
    with providers(first=[LONG], second=[said("never")], big=[said("long")]) as fakes:
        async with pool(fakes, larger=("big",)) as models:
            assert (await answered(models)).message.text == "long"
        assert fakes["second"].received == []


@pytest.mark.requirement("I15.3.52")
async def test_a_stream_changes_over_until_something_was_shown_and_never_after() -> None:
    begun = streamed("openai", *OPENAI.frames("Hello there")[:2], hang_up=True)
    with providers(first=[BROKEN, begun], second=[streamed("openai", *OPENAI.frames("fine"))]) as fakes:
        async with pool(fakes) as models:
            provider, _ = await models.get("models/fast")
            pieces = [piece async for piece in provider.stream(question(stream=True))]
            assert "".join(each.text for each in pieces if isinstance(each, TextDelta)) == "fine"
            pieces = [piece async for piece in provider.stream(question(stream=True))]
        assert isinstance(pieces[-1], Reply)
        assert pieces[-1].incomplete
        assert len(fakes["second"].received) == 1


@pytest.mark.requirement("I15.3.53")
async def test_a_busy_deployment_is_left_alone_as_long_as_it_asks() -> None:
    with providers(first=[BUSY], second=[said("one"), said("two")]) as fakes:
        async with pool(fakes) as models:
            await answered(models)
            with told() as tried:
                reply = await answered(models)
        assert len(fakes["first"].received) == 1
    assert reply.message.text == "two"
    assert [each.outcome for each in tried] == ["skipped", "answered"]
    assert "left alone for" in tried[0].reason


@pytest.mark.requirement("I15.3.53")
async def test_without_any_that_may_be_asked_nobody_is_and_the_error_says_when() -> None:
    with providers(first=[BUSY], second=[BUSY]) as fakes:
        async with pool(fakes) as models:
            with pytest.raises(
                ProviderError, match="no deployment of models/fast answers: first/m: "
            ) as busy:
                await answered(models)
            with pytest.raises(ProviderError) as again:
                await answered(models)
        assert {len(fake.received) for fake in fakes.values()} == {1}
    assert (busy.value.status, again.value.status) == (429, 503)
    assert again.value.retry_after == pytest.approx(30, abs=29)


@pytest.mark.requirement("I15.3.50")
async def test_where_nobody_is_reached_the_error_says_so() -> None:
    with providers(first=[], second=[]) as fakes:
        models = pool(fakes)
    async with models:
        with pytest.raises(UnreachableError, match=r"first/m: .*second/m: "):
            await answered(models)


@pytest.mark.requirement("I15.3.54")
def test_deployments_get_the_share_of_their_weight_and_conversations_stay() -> None:
    class Some:
        def __init__(self, name: str, weight: float) -> None:
            self.name, self.weight = name, weight

    both = [Some("a/m", 3.0), Some("b/m", 1.0)]
    first = Counter(by_weight(both, f"c{number}")[0].name for number in range(4_000))
    assert 2_850 < first["a/m"] < 3_150
    assert len({by_weight(both, "one")[0].name for _ in range(50)}) == 1
    assert {by_weight(both, "")[0].name for _ in range(200)} == {"a/m", "b/m"}


@pytest.mark.requirement("I15.3.55")
async def test_a_cost_that_is_not_known_stays_unknown_and_what_is_free_costs_nothing() -> None:
    with providers(mine=[said("mine")]) as fakes:
        config = {
            "providers": {"mine": {"base_url": fakes["mine"].url}},
            "models": {
                "own": {"deployments": [{"model": "mine/gpt-4o"}]},
                "free": {"deployments": [{"model": "offline/keyword"}]},
            },
        }
        costs: dict[str, float | None] = {}
        async with ProviderPool(Config.model_validate(config), settings=instant()) as models:
            for name in ("own", "free"):
                provider, bare = await models.get(f"models/{name}")
                reply = await provider.answer(Request(bare, (User("Hello"),)))
                costs[name] = Pricing(provider.name, bare).cost(reply.usage)
    assert costs == {"own": None, "free": 0.0}


@pytest.mark.requirement("I15.3.55")
def test_what_it_cost_is_what_the_deployment_costs_that_answered() -> None:
    usage = Usage(1_000, 1_000, raw=({"prompt_tokens": 1_000},))
    deployed = Pricing("openai", "gpt-4o")
    reply = with_cost(Reply(Assistant("fine"), usage=usage), deployed, 0.5)
    listed = deployed.cost(usage)
    assert listed
    assert Pricing("models", "fast").cost(reply.usage) == pytest.approx(listed / 2)


@pytest.mark.requirement("I15.3.55")
async def test_a_model_of_its_own_calls_tools_as_any_other() -> None:
    call = OPENAI.answer(calls=[("c1", "weather", {"city": "Oslo"})])
    tool = ToolSpec("", "weather", "Weather", {"type": "object", "properties": {"city": {"type": "string"}}})
    with providers(first=[BROKEN], second=[Sent(call)]) as fakes:
        async with pool(fakes) as models:
            reply = await answered(models, question(tools=(tool,)))
    assert [(each.name, each.arguments) for each in reply.message.calls] == [("weather", {"city": "Oslo"})]


@pytest.mark.requirement("I15.3.56")
def test_what_a_config_cannot_mean_is_an_error() -> None:
    deployments = {"deployments": [{"model": "nobody/m"}]}
    with pytest.raises(UsageError, match="no provider 'nobody'"):
        own_providers(Config.model_validate({"models": {"fast": deployments}}))
    taken = {"providers": {"models": {"base_url": "http://127.0.0.1:1"}}}
    with pytest.raises(UsageError, match=r"\$\.providers\.models"):
        own_providers(
            Config.model_validate(
                {**taken, "models": {"fast": {"deployments": [{"model": "offline/keyword"}]}}}
            )
        )


@pytest.mark.requirement("I15.3.56")
async def test_an_unknown_model_of_its_own_is_told_with_those_that_there_are() -> None:
    config = Config.model_validate({"models": {"fast": {"deployments": [{"model": "offline/keyword"}]}}})
    async with ProviderPool(config) as models:
        with pytest.raises(UsageError, match=r"the config has no model 'slow' \(it has: fast\)"):
            await models.get("models/slow")
