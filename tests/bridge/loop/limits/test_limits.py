"""Limits of a question and of its conversation: what reaches one, and what comes of it."""

from __future__ import annotations

import math
from typing import Any

import anyio
import pytest

from tests.support.local_tools import Performed, answered, box, events_of, outcomes, turn
from tests.support.waiting import BOUND_S
from toolspan_bridge import (
    Approval,
    Assistant,
    Conversation,
    Event,
    LimitReached,
    Limits,
    Notice,
    Pricing,
    Question,
    Scripted,
    SubagentEvent,
    ToolApprovalAnswer,
    ToolApprovalRequest,
    ToolCallFinished,
    ToolCallStarted,
    ToolResults,
    Usage,
    UsageError,
    UsageReported,
    User,
    answer,
)
from toolspan_bridge.messages import Message
from toolspan_bridge.toolbox.reports import SubagentReport

pytestmark = pytest.mark.anyio

LONG = {"input_tokens": 900, "output_tokens": 100}


class Dollar(Pricing):
    """A dollar for each thousand tokens."""

    @property
    def unbounded(self) -> str:
        return ""

    def cost(self, usage: Usage) -> float | None:
        return (usage.input_tokens + usage.output_tokens) / 1000


DOLLAR = Dollar("some", "model")


def looking(count: int, **more: Any) -> list[dict[str, Any]]:
    return [turn(("look", {"n": n}), usage=LONG, **more) for n in range(count)]


def question(**limits: Any) -> Question:
    return Question("?", "m", limits=Limits(**limits), max_iterations=20)


@pytest.mark.requirement("I12.5.10")
@pytest.mark.parametrize(
    ("limits", "made", "key"),
    [
        ({"calls": 2}, 2, "question.calls"),
        ({"tokens": 3000}, 2, "question.tokens"),
        ({"tokens": 3999}, 2, "question.tokens"),
        ({"usd": 3.5}, 2, "question.usd"),
    ],
)
async def test_a_limit_ends_with_a_last_turn_without_tools_and_is_named(
    limits: dict[str, Any], made: int, key: str
) -> None:
    look, provider = Performed("look"), Scripted([*looking(made), {"text": "So far.", "usage": LONG}])
    told = answered(await events_of(question(**limits), provider, box(look), pricing=DOLLAR))
    assert len(look.calls) == made
    assert [request.tool_choice for request in provider.requests] == ["auto"] * made + ["none"]
    assert (told.content, told.stop, told.limit, told.max_iterations_reached) == (
        "So far.",
        "limit",
        key,
        False,
    )
    name = key.removeprefix("question.")
    assert f"limits.{key} in the config" in told.reason
    option = {"calls": "--max-calls", "tokens": "--max-total-tokens", "usd": "--max-cost"}[name]
    assert option in told.reason and told.as_dict()["limit"] == key


@pytest.mark.requirement("I12.5.10")
@pytest.mark.parametrize("limits", [{"tokens": 1000}, {"usd": 1.0}, {"tokens": 1500}])
async def test_without_room_for_a_last_turn_nothing_more_is_sent(limits: dict[str, Any]) -> None:
    talk, provider = Conversation(), Scripted(looking(1))
    told = answered(
        await events_of(question(**limits), provider, box(Performed("look")), talk, pricing=DOLLAR)
    )
    assert (len(provider.requests), told.stop) == (1, "limit")
    assert "was reached" in told.content
    assert [type(message) for message in talk.messages] == [User, Assistant, ToolResults, Assistant]


@pytest.mark.requirement("I12.5.10")
async def test_calls_of_a_turn_beyond_the_limit_are_refused_and_the_others_made() -> None:
    look, talk = Performed("look"), Conversation()
    turns = [turn(*(("look", {"n": n}) for n in range(4))), {"text": "done"}]
    await events_of(question(calls=3), Scripted(turns), box(look), talk)
    codes = [outcome.result.get("error_code") for outcome in outcomes(talk)]
    assert (codes, len(look.calls)) == ([None, None, None, "too_many_calls"], 3)


@pytest.mark.requirement("I12.5.11")
@pytest.mark.parametrize(
    ("limits", "key"),
    [
        ({"calls": 3}, "conversation.calls"),
        ({"tokens": 5500}, "conversation.tokens"),
        ({"usd": 5.8}, "conversation.usd"),
    ],
)
async def test_the_sums_of_a_conversation_go_on_after_it_was_saved_and_resumed(
    limits: dict[str, Any], key: str
) -> None:
    talk, look = Conversation(), Performed("look")
    asked = Question("?", "m", conversation_limits=Limits(**limits), max_iterations=20)
    first = await answer(
        asked, Scripted([*looking(1), {"text": "one", "usage": LONG}]), box(look), talk, pricing=DOLLAR
    )
    assert first.stop == "end"
    talk = Conversation.from_json(talk.to_json())
    assert (talk.calls, talk.tokens, talk.usd) == (1, 2000, 2.0)
    assert talk.seconds >= 0
    provider = Scripted([*looking(5), {"text": "two", "usage": LONG}])
    provider_turns = Scripted([*looking(2), {"text": "two", "usage": LONG}])
    second = await answer(asked, provider_turns, box(look), talk, pricing=DOLLAR)
    assert (second.stop, second.limit, second.content) == ("limit", key, "two")
    assert f"--conversation-limit {key.partition('.')[2]}=" in second.reason
    third = await answer(asked, provider, box(look), talk, pricing=DOLLAR)
    assert third.stop == "limit"


@pytest.mark.requirement("I12.5.11")
async def test_a_question_of_a_conversation_that_is_used_up_is_not_sent_and_leaves_no_trace() -> None:
    talk = Conversation()
    talk.tokens = 10
    asked = Question("?", "m", conversation_limits=Limits(tokens=10))
    provider = Scripted([])
    told = await answer(asked, provider, box(), talk)
    assert (told.limit, told.usage, provider.requests, talk.messages) == (
        "conversation.tokens",
        Usage(),
        [],
        [],
    )


@pytest.mark.requirement("I12.5.11")
async def test_a_file_without_the_sums_begins_at_none() -> None:
    import json

    kept = json.loads(Conversation([User("hi"), Assistant("ho")]).to_json())
    for key in ("calls", "tokens", "seconds"):
        del kept[key]
    found = Conversation.from_json(json.dumps(kept).encode())
    assert (found.calls, found.tokens, found.seconds) == (0, 0, 0.0)


@pytest.mark.requirement("I12.5.12")
async def test_a_limit_on_cost_is_refused_where_no_price_is_known() -> None:
    provider = Scripted([{"text": "hi"}])
    with pytest.raises(UsageError, match=r"no price is known of ollama/x: .*would not be held"):
        await answer(question(usd=0.5), provider, box(), pricing=Pricing("ollama", "x"))
    assert provider.requests == []
    talk = Conversation([User("hi")])
    asked = Question("?", "m", conversation_limits=Limits(usd=1))
    with pytest.raises(UsageError, match="what the conversation cost so far is not known"):
        await answer(asked, provider, box(), talk, pricing=DOLLAR)


@pytest.mark.requirement("I12.5.12")
async def test_tokens_that_a_provider_does_not_report_are_estimated_and_it_is_said() -> None:
    text = "many words " * 200
    provider = Scripted([turn(("look", {}), text=text), {"text": "done"}])
    events = await events_of(question(tokens=700), provider, box(Performed("look")))
    assert next(event.text for event in events if isinstance(event, Notice)) == (
        "scripted reports no tokens: they are estimated."
    )
    assert answered(events).limit == "question.tokens"


@pytest.mark.requirement("I12.5.13")
async def test_when_the_time_is_up_running_calls_are_cancelled_and_each_has_its_result() -> None:
    ended: list[str] = []

    async def endless(call: Any) -> Any:
        try:
            await anyio.sleep(math.inf)
        finally:
            ended.append(call.id)

    talk = Conversation()
    tools = box(Performed("look"), Performed("wait", endless))
    provider = Scripted([turn(("look", {}), ("wait", {}))])
    with anyio.fail_after(BOUND_S):
        events = await events_of(question(seconds=0.2), provider, tools, talk)
    told = answered(events)
    assert (told.stop, told.limit, len(ended)) == ("limit", "question.seconds", 1)
    assert [each.result.get("error_code") for each in outcomes(talk)] == [None, "cancelled"]
    assert sum(isinstance(event, ToolCallFinished) for event in events) == 2
    assert isinstance(talk.messages[-1], Assistant)
    again = await answer(Question("And?", "m"), Scripted([{"text": "yes"}]), tools, talk)
    assert again.content == "yes"


class Slow(Scripted):
    """Says something, and then nothing more."""

    async def stream(self, request: Any) -> Any:
        from toolspan_bridge import TextDelta

        yield TextDelta("The answer")
        await anyio.sleep(math.inf)

    async def answer(self, request: Any) -> Any:
        await anyio.sleep(math.inf)


@pytest.mark.requirement("I12.5.13")
@pytest.mark.parametrize("stream", [True, False])
async def test_when_the_time_is_up_a_turn_is_cancelled_and_what_came_of_it_is_kept(stream: bool) -> None:
    talk = Conversation()
    asked = Question("?", "m", limits=Limits(seconds=0.2), stream=stream)
    with anyio.fail_after(BOUND_S):
        told = await answer(asked, Slow([]), box(), talk)
    assert (told.limit, told.incomplete) == ("question.seconds", stream)
    kept: list[Message] = [User("?"), Assistant("The answer", incomplete=True)] if stream else []
    assert talk.messages[: len(kept)] == kept
    again = await answer(Question("And?", "m"), Scripted([{"text": "yes"}]), box(), talk)
    assert again.content == "yes"


@pytest.mark.requirement("I12.5.13")
async def test_the_time_in_which_a_person_is_asked_does_not_count() -> None:
    class Person:
        def reason_to_ask(self, *about: Any) -> str:
            return "it says so"

        async def decide(self, request: Any) -> Approval:
            await anyio.sleep(0.4)
            return Approval(allowed=True, decider="person")

    look = Performed("look")
    provider = Scripted([turn(("look", {})), {"text": "done"}])
    with anyio.fail_after(BOUND_S):
        told = await answer(question(seconds=0.3), provider, box(look), approver=Person())
    assert (told.content, len(look.calls)) == ("done", 1)


@pytest.mark.requirement("I12.3.44")
async def test_what_a_sub_agent_uses_counts_and_the_time_in_which_a_person_is_asked_for_it_does_not() -> None:
    async def work(call: Any) -> str:
        def tell(event: Event) -> None:
            call.report(SubagentReport("outer", SubagentEvent("1", "Task", "inner", event, 1)))

        tell(ToolCallStarted("2", "s", "look", {}, 1))
        tell(ToolApprovalRequest("2", "s", "look", {}, 1))
        await anyio.sleep(0.4)
        tell(ToolApprovalAnswer("2", "look", Approval(allowed=True, decider="person"), 1))
        tell(UsageReported(Usage(input_tokens=900, output_tokens=100), 1))
        return "done"

    talk = Conversation()
    provider = Scripted([turn(("work", {})), {"text": "done"}])
    with anyio.fail_after(BOUND_S):
        told = await answer(
            question(seconds=0.3), provider, box(Performed("work", work)), talk, pricing=DOLLAR
        )
    assert (told.content, told.usd) == ("done", 1)
    assert (talk.calls, talk.tokens) == (2, 1_000)


@pytest.mark.requirement("I12.5.14")
@pytest.mark.parametrize(
    ("choice", "content", "made"),
    [("wrap_up", "2", 1), ("stop", "The limit of 1 tool calls for this question was reached.", 1)],
)
async def test_at_a_limit_someone_can_be_asked(choice: str, content: str, made: int) -> None:
    asked: list[LimitReached] = []

    async def at_limit(reached: LimitReached) -> Any:
        asked.append(reached)
        return choice

    look = Performed("look")
    turns = [turn(("look", {"n": 1})), {"text": "2"}]
    told = answered(await events_of(question(calls=1), Scripted(turns), box(look), at_limit=at_limit))
    assert (told.content, len(look.calls)) == (content, made)
    assert [(each.key, each.limit, each.used) for each in asked] == [("question.calls", 1, 1)]


@pytest.mark.requirement("I12.5.14")
@pytest.mark.parametrize(("more", "times"), [(1, 3), (math.inf, 1)])
async def test_a_limit_can_be_raised_when_it_is_reached(more: float, times: int) -> None:
    asked: list[str] = []

    async def at_limit(reached: LimitReached) -> float:
        asked.append(reached.key)
        return more

    look = Performed("look")
    told = answered(
        await events_of(
            question(calls=1), Scripted([*looking(3), {"text": "done"}]), box(look), at_limit=at_limit
        )
    )
    assert (told.content, told.stop, len(look.calls), len(asked)) == ("done", "end", 3, times)


class SlowAtFirst(Scripted):
    """Says something in its first turn, and then nothing more; after that, its turns."""

    slow = True

    async def stream(self, request: Any) -> Any:
        from toolspan_bridge import TextDelta

        if self.slow:
            self.slow = False
            yield TextDelta("It ")
            await anyio.sleep(math.inf)
        async for each in super().stream(request):
            yield each


@pytest.mark.requirement("I13.4.29")
@pytest.mark.parametrize("choice", [math.inf, "stop"])
async def test_when_the_time_is_up_within_a_turn_someone_is_asked_and_the_turn_made_again(
    choice: Any,
) -> None:
    async def at_limit(reached: LimitReached) -> Any:
        assert (reached.key, reached.has_room) == ("question.seconds", False)
        return choice

    talk, provider = Conversation(), SlowAtFirst([{"text": "It rains."}])
    asked = Question("?", "m", limits=Limits(seconds=0.2), stream=True)
    with anyio.fail_after(BOUND_S):
        told = await answer(asked, provider, box(), talk, at_limit=at_limit)
    if choice == "stop":
        assert (told.limit, told.content, told.incomplete) == ("question.seconds", "It ", True)
    else:
        assert (told.limit, told.content, told.incomplete) == ("", "It rains.", False)
        assert talk.messages == [User("?"), talk.messages[1]]
