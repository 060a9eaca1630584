"""Conversations that are longer than the model's context: what is left out, summarised, kept, and said."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.local_tools import Performed, answered, box, events_of, turn
from tests.support.wire_peers import FORMATS, Peer, wires
from toolspan_bridge import (
    Assistant,
    ContextOverflowError,
    Conversation,
    Notice,
    ProviderError,
    Question,
    Reply,
    Request,
    Scripted,
    ToolResults,
    User,
    answer,
    compact,
)

pytestmark = pytest.mark.anyio

WORDS = "some words that take their place " * 20


def look() -> Performed:
    async def give(call: Any) -> Any:
        return f"result {call.arguments['n']}: {WORDS}"

    return Performed("look", give)


def many(count: int, text: str = "done") -> list[Any]:
    return [*(turn(("look", {"n": n})) for n in range(count)), {"text": text}]


def asked(text: str = "The question?", **more: Any) -> Question:
    return Question(text, "m", max_iterations=30, **{"context_tokens": 1500, "max_tokens": 100, **more})


def numbers(request: Request) -> list[str]:
    """The results in ``request``, by their numbers."""
    results = [message for message in request.messages if isinstance(message, ToolResults)]
    return [str(one.result["result"]).split(":")[0].split()[1] for each in results for one in each.outcomes]


def whole(request: Request) -> None:
    """Every call has its result, at once after it."""
    for place, message in enumerate(request.messages):
        if isinstance(message, Assistant) and message.calls:
            after = request.messages[place + 1]
            assert isinstance(after, ToolResults)
            assert [call.id for call in message.calls] == [outcome.call_id for outcome in after.outcomes]


@pytest.mark.requirement("I12.5.22")
async def test_the_oldest_calls_go_with_their_results_and_never_the_question_or_the_last_ones() -> None:
    talk, provider = Conversation(), Scripted(many(12))
    events = await events_of(asked(), provider, box(look()), talk)
    for request in provider.requests:
        whole(request)
        assert isinstance(request.messages[0], User) and request.messages[0].text == "The question?"
    kept = numbers(provider.requests[-1])
    assert kept == [str(n) for n in range(12 - len(kept), 12)] and 1 <= len(kept) < 12
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert len(notices) == 1 and "an estimate" in notices[0] and "left out" in notices[0]
    assert "1,500" in notices[0]
    marker = [m.text for m in provider.requests[-1].messages if isinstance(m, User)][1]
    assert "left out here" in marker and "look" in marker
    assert sum(isinstance(message, ToolResults) for message in talk.messages) == 12


@pytest.mark.requirement("I12.5.22")
async def test_what_was_left_out_stays_so_after_a_resume_and_another_model_sees_all() -> None:
    talk = Conversation()
    provider = Scripted(many(12))
    await answer(asked(), provider, box(look()), talk)
    talk = Conversation.from_json(talk.to_json())
    again = Scripted([{"text": "more"}])
    await answer(asked("And?"), again, box(look()), talk)
    assert numbers(again.requests[0]) == numbers(provider.requests[-1])
    other = Scripted([{"text": "all"}])
    await answer(Question("And you?", "big"), other, box(look()), talk)
    assert len(numbers(other.requests[0])) == 12


@pytest.mark.requirement("I12.5.22")
async def test_a_context_that_the_provider_says_is_too_short_is_learned() -> None:
    class Short(Scripted):
        refused = 0

        async def answer(self, request: Request) -> Reply:
            if len(numbers(request)) > 3:
                self.refused += 1
                raise ContextOverflowError("too long", counted_tokens=2000, maximum_tokens=1000)
            return await super().answer(request)

    talk, provider = Conversation(), Short(many(8))
    told = await answer(asked(context_tokens=None), provider, box(look()), talk)
    assert (told.content, provider.refused > 0) == ("done", True)
    with pytest.raises(ContextOverflowError):
        await answer(Question("x " * 3000, "m"), Overflowing([]), box())


@pytest.mark.requirement("I12.5.22")
async def test_a_provider_that_says_no_number_loses_a_short_conversation_its_oldest_calls_alone() -> None:
    class Silent(Scripted):
        async def answer(self, request: Request) -> Reply:
            if len(numbers(request)) > 5:
                raise ContextOverflowError("too long")
            return await super().answer(request)

    provider = Silent(many(8))
    events = await events_of(asked(context_tokens=None), provider, box(look()), Conversation())
    assert answered(events).content == "done"
    for request in provider.requests:
        whole(request)
    assert len(numbers(provider.requests[-1])) >= 2
    [left_out] = [event.text for event in events if isinstance(event, Notice) and "left out" in event.text]
    assert "(1)" not in left_out


class Overflowing(Scripted):
    """Finds every request too long."""

    async def answer(self, request: Request) -> Reply:
        raise ContextOverflowError("too long", maximum_tokens=10)


@pytest.mark.requirement("I12.5.22")
async def test_exchanges_go_only_where_that_is_allowed() -> None:
    talk = Conversation()
    for number in range(6):
        talk.messages += [User(f"Question {number}: {WORDS}"), Assistant(f"Answer {number}")]
    kept, trimmed = Scripted([{"text": "a"}]), Scripted([{"text": "b"}])
    await answer(asked(context_tokens=700), kept, box(), Conversation(talk.messages))
    assert len(kept.requests[0].messages) == 13
    await answer(asked(context_tokens=700, trim=True), trimmed, box(), talk)
    texts = [getattr(message, "text", "") for message in trimmed.requests[0].messages]
    assert texts[-1] == "The question?" and "Answer 5" in texts and "Answer 0" not in texts
    assert len(talk.messages) == 14


@pytest.mark.requirement("I12.5.23")
async def test_the_model_summarises_what_does_not_fit_and_it_is_said() -> None:
    talk = Conversation()
    for number in range(6):
        talk.messages += [User(f"Question {number}: {WORDS}"), Assistant(f"Answer {number}")]
    used = {"input_tokens": 10, "output_tokens": 5}
    provider = Scripted([{"text": "They asked six things.", "usage": used}, {"text": "Yes.", "usage": used}])
    events = await events_of(asked(context_tokens=700, compact=True), provider, box(), talk)
    told = answered(events)
    assert (told.content, told.usage.input_tokens, talk.tokens) == ("Yes.", 20, 30)
    first, second = provider.requests
    assert (first.tools, first.messages[-1].__class__) == ((), User)
    assert [type(message) for message in second.messages] == [User, User]
    assert "They asked six things." in str(second.messages[0])
    assert any("a summary of 12 messages" in event.text for event in events if isinstance(event, Notice))
    assert len(talk.messages) == 14


@pytest.mark.requirement("I12.5.23")
@pytest.mark.parametrize("wire", FORMATS)
async def test_a_compacted_conversation_goes_on_with_any_provider_after_a_resume(wire: str) -> None:
    talk = Conversation()
    question = Question("Q", "m", system="Be kind.")
    await answer(question, Scripted(many(2)), box(look()), talk)
    await answer(Question("Q2", "m", system="Be brief."), Scripted([{"text": "A2"}]), box(look()), talk)
    compacted = await compact(talk, Scripted([{"text": "Looked twice."}]), "m")
    assert compacted.messages == len(talk.messages)
    talk = Conversation.from_json(talk.to_json())
    sent = [
        Sent(wires(wire).answer("", [("c1", "toolspan__look", {"n": 3})])),
        Sent(wires(wire).answer("On we go.")),
    ]
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer(wire, fake.url)) as provider:
            told = await answer(Question("Q3", "m", system="Be brief."), provider, box(look()), talk)
        body = fake.received[0].content.decode()
    assert told.content == "On we go."
    assert "Looked twice." in body and "Be brief." in body and "result 0" not in body


@pytest.mark.requirement("I12.5.23")
async def test_without_a_whole_summary_the_conversation_stays_as_it_is() -> None:
    talk = Conversation([User("hi"), Assistant("ho")])
    for turns in ([{"text": ""}], [{"text": "cut", "stop": "length"}]):
        with pytest.raises(ProviderError, match="no whole summary"):
            await compact(talk, Scripted(turns), "m")
    assert talk.summary is None
    assert (await compact(Conversation(), Scripted([]), "m")).messages == 0
