"""A limit of cost: what a request may cost is held before it is sent, whoever else asks meanwhile."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import replace
from random import Random
from typing import Any

import anyio
import pytest

from tests.support.local_tools import answered, box, events_of
from tests.support.obedient import MODELS, Bill, Clock, Obedient, question
from tests.support.waiting import BOUND_S
from toolspan_bridge import Conversation, Scripted
from toolspan_bridge.errors import BridgeError, UnreachableError, UsageError
from toolspan_bridge.loop import Limits, Question, answer
from toolspan_bridge.loop.limits import CostLimitError, Held, LimitReached, Spending
from toolspan_bridge.messages import Reply, Request, User
from toolspan_bridge.messages.deltas import Delta
from toolspan_bridge.providers import Provider
from toolspan_bridge.providers.prices import Pricing

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I24.6.1")]

GPT = Pricing("openai", "gpt-4o")
"""$2.50 and $10 for a million tokens."""


async def asked(spending: Spending, dice: Random, bill: Bill) -> None:
    """Some requests one after another, which their client may give up at any moment."""
    pricing = dice.choice(MODELS)
    with anyio.CancelScope() as patience, suppress(BridgeError):
        obedient = Obedient(dice, bill, pricing, patience.cancel)
        provider = spending.charged(obedient, pricing, "m")
        for _ in range(dice.randint(1, 3)):
            if dice.random() < 0.5:
                await provider.answer(question(dice))
                continue
            async with aclosing(provider.stream(replace(question(dice), stream=True))) as pieces:
                async for _ in pieces:
                    if dice.random() < 0.1:
                        break


@pytest.mark.parametrize("shortens", [True, False])
async def test_whatever_runs_side_by_side_never_costs_a_cent_over_the_limit(shortens: bool) -> None:
    paid = 0
    for number in range(80):
        dice, bill = Random(f"24/{number}"), Bill(Clock())
        spending = Spending(dice.choice((0.0005, 0.01, 0.05, 0.3)), shortens=shortens)
        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as tasks:
                for _ in range(dice.randint(1, 8)):
                    tasks.start_soon(asked, spending, dice, bill)
        assert spending.limit is not None
        assert bill.total <= spending.limit + 1e-9, (number, spending.limit, bill.total)
        assert spending.spent >= bill.total - 1e-9, number
        paid += bill.total > 0
    assert paid > 20  # many of them could be afforded


async def test_a_request_waits_for_others_that_may_cost_less_than_they_hold() -> None:
    spending, ended = Spending(1.0, "the limit"), list[str]()
    await spending.hold(Held(usd=0.7), Held())

    async def wait() -> None:
        await spending.hold(Held(usd=0.6), Held())
        ended.append("held")

    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            assert ended == []
            await spending.settle(Held(usd=0.7), Held(usd=0.1))
    assert ended == ["held"]
    with pytest.raises(CostLimitError, match=r"may cost \$0.9500, and \$0.9000 of the limit is left"):
        await spending.hold(Held(usd=0.95), Held())


async def test_two_that_want_more_than_they_hold_do_not_wait_for_each_other() -> None:
    spending = Spending(1.0)
    for _ in range(2):
        await spending.hold(Held(usd=0.4), Held())

    async def more() -> None:
        await spending.hold(Held(usd=0.3), Held(usd=0.4))
        await spending.settle(Held(usd=0.7), Held(usd=0.2))

    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(more)
            tasks.start_soon(more)
    assert spending.spent == pytest.approx(0.4)


def asking(**limits: Any) -> Question:
    return Question("?", "gpt-4o", limits=Limits(**limits))


async def test_a_request_that_may_cost_more_than_the_limit_is_not_sent_and_it_is_said() -> None:
    provider, talk = Scripted([{"text": "hi"}]), Conversation()
    told = await answer(asking(usd=0.0001), provider, box(), talk, pricing=GPT)
    assert (provider.requests, told.stop, told.limit) == ([], "limit", "question.usd")
    assert "the next request may cost $0.0" in told.reason and "--max-cost" in told.reason


async def test_what_is_held_is_what_the_provider_is_told() -> None:
    provider = Scripted([{"text": "hi", "usage": {"input_tokens": 50, "output_tokens": 5}}])
    await answer(asking(usd=0.02), provider, box(), pricing=GPT)
    [request] = provider.requests
    assert request.max_tokens is not None and 0 < request.max_tokens * 10e-6 < 0.02 and request.caps_price


async def test_a_person_who_raises_the_limit_has_the_request_sent() -> None:
    reached: list[LimitReached] = []

    async def raises(limit: LimitReached) -> float:
        reached.append(limit)
        return 0.5

    provider = Scripted([{"text": "hi", "usage": {"input_tokens": 50, "output_tokens": 5}}])
    events = await events_of(asking(usd=0.0001), provider, box(), pricing=GPT, at_limit=raises)
    assert (answered(events).content, len(reached), reached[0].has_room) == ("hi", 1, False)


class Lost(Scripted):
    """Never heard of again, though each request was sent."""

    async def answer(self, request: Request) -> Reply:
        self.requests.append(request)
        assert request.meter is not None
        await request.meter.sends(b"{}", request.max_tokens)
        raise UnreachableError("the connection broke")

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        yield await self.answer(request)


async def test_a_conversation_counts_what_may_have_been_paid_for_an_answer_that_was_lost() -> None:
    talk = Conversation()
    asked = Question("?", "gpt-4o", conversation_limits=Limits(usd=0.06))
    with pytest.raises(UnreachableError):
        await answer(asked, Lost([]), box(), talk, pricing=GPT)
    assert talk.usd is not None and 0.04 < talk.usd <= 0.06
    second = Lost([])
    with suppress(UnreachableError):
        await answer(asked, second, box(), talk, pricing=GPT)
    assert talk.usd <= 0.06


async def test_a_request_whose_cost_has_no_bound_is_refused_with_what_to_write() -> None:
    provider = Scripted([{"text": "hi"}])
    provider.format_name = "anthropic"  # which has a search of its own
    searching = replace(asking(usd=1.0), builtins=("web_search",))
    with pytest.raises(UsageError, match=r"web_search.*would not hold.*--max-total-tokens.*ask without it"):
        await answer(searching, provider, box(), pricing=GPT)
    unknown = replace(asking(usd=1.0), model="no-such-model")
    with pytest.raises(UsageError, match="no price is known of openrouter/no-such-model"):
        await answer(unknown, provider, box(), pricing=Pricing("openrouter", "no-such-model"))
    assert provider.requests == []


async def test_a_model_that_is_asked_within_a_call_is_paid_from_the_same_limit() -> None:
    """As a sub-agent and a server's sampling are: both have the provider of the question."""
    spending = Spending(0.001, "the limit of $0.001 for this question")
    inner = Scripted([{"text": "hi"}])
    inner.name = "openai"

    async def find(model: str) -> tuple[Provider, str]:
        return inner, model

    provider, name = await spending.charging(find, ())("gpt-4o")
    with pytest.raises(CostLimitError, match=r"of the limit of \$0.001 for this question is left"):
        await provider.answer(Request(name, (User("x" * 4_000),)))
    assert inner.requests == []


async def test_a_limit_within_a_limit_holds_both() -> None:
    bill, wide, narrow = Bill(Clock()), Spending(1.0), Spending(0.02)
    obedient = Obedient(Random(1), bill, GPT, anyio.CancelScope().cancel, ("answers",))
    provider = narrow.charged(wide.charged(obedient, GPT, "m"), GPT, "m")
    with pytest.raises(CostLimitError) as refused:
        for _ in range(99):
            await provider.answer(Request("m", (User("hi"),)))
    assert refused.value.spending is narrow
    assert 0 < bill.total <= 0.02 and wide.spent == pytest.approx(bill.total) == pytest.approx(narrow.spent)
