"""Long results: cut for the model with a marker, kept whole, and read on with a tool of the bridge's own."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.local_tools import Performed, answered, box, events_of, outcomes, turn
from tests.support.wire_peers import FORMATS, Peer, wires
from toolspan_bridge import Conversation, Question, Request, Scripted, ToolResults, answer

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.5.20")]

TEXT = "".join(f"line {n}\n" for n in range(500))


def long(name: str = "look") -> Performed:
    async def give(call: Any) -> Any:
        return TEXT

    return Performed(name, give)


def asked(**more: Any) -> Question:
    return Question("?", "m", result_characters=1000, **more)


def shown(request: Request) -> list[str]:
    results = [message for message in request.messages if isinstance(message, ToolResults)]
    return [str(part.data["text"]) for each in results for one in each.outcomes for part in one.parts]


def offered(request: Request) -> list[str]:
    return [tool.name for tool in request.tools]


async def test_a_long_result_is_cut_with_a_marker_and_the_conversation_keeps_it_whole() -> None:
    talk, provider = Conversation(), Scripted([turn(("look", {})), {"text": "done"}])
    await events_of(asked(), provider, box(long()), talk)
    (text,) = shown(provider.requests[1])
    assert text.startswith(TEXT[:1000] + "\n[cut here: these are the first 1,000 of ")
    assert 'read_result(call_id="call_1_1", offset=1000)' in text
    (outcome,) = outcomes(talk)
    assert (outcome.result["result"], outcome.cut) == (TEXT, 1000)
    assert offered(provider.requests[0]) == ["look"]
    assert offered(provider.requests[1]) == ["look", "read_result"]


async def test_the_model_reads_on_to_the_end_and_is_told_what_it_may_read() -> None:
    talk = Conversation()
    reads = [{"call_id": "call_1_1", "offset": at} for at in (1000, 4000, 99_999)]
    turns = [
        turn(("look", {})),
        turn(*(("read_result", read) for read in reads), ("read_result", {"call_id": "nope"})),
        {"text": "done"},
    ]
    await events_of(asked(), Scripted(turns), box(long()), talk)
    first, last, beyond, unknown = outcomes(talk)[1:]
    assert first.result["result"] == {
        "call_id": "call_1_1",
        "text": TEXT[1000:2000],
        "offset": 1000,
        "next_offset": 2000,
        "characters": len(TEXT),
    }
    assert (last.result["result"]["text"], last.result["result"]["next_offset"]) == (TEXT[4000:], None)
    assert beyond.result["error_code"] == "invalid_parameters"
    assert (unknown.result["error_code"], unknown.result["user_action"]) == (
        "not_found",
        "Name one of: call_1_1.",
    )
    assert all(outcome.cut is None for outcome in outcomes(talk)[1:])


async def test_a_call_id_that_a_provider_repeats_names_each_result_apart() -> None:
    talk, look = Conversation(), long()
    for number in range(2):
        call = {"tool": "look", "arguments": {"n": number}, "id": "call_1"}
        provider = Scripted([{"calls": [call]}, {"text": "done"}])
        await answer(asked(), provider, box(look), talk)
    assert 'call_id="call_1#2"' in shown(provider.requests[1])[1]


@pytest.mark.requirement("I12.5.21")
@pytest.mark.parametrize("wire", FORMATS)
async def test_after_a_resume_another_provider_can_read_on(wire: str) -> None:
    talk = Conversation()
    await answer(asked(), Scripted([turn(("look", {})), {"text": "done"}]), box(long()), talk)
    talk = Conversation.from_json(talk.to_json())
    read = ("c9", "toolspan__read_result", {"call_id": "call_1_1", "offset": 1000})
    sent = [Sent(wires(wire).answer("", [read])), Sent(wires(wire).answer("Read."))]
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer(wire, fake.url)) as provider:
            told = answered(await events_of(asked(), provider, box(long()), talk))
    assert told.content == "Read."
    assert told.tool_calls[0].result["result"]["text"] == TEXT[1000:2000]


async def test_where_no_tool_may_be_called_reading_on_is_not_offered() -> None:
    talk = Conversation()
    await answer(asked(), Scripted([turn(("look", {})), {"text": "done"}]), box(long()), talk)
    provider = Scripted([{"text": "done"}])
    await answer(asked(allowed_tools=()), provider, box(long()), talk)
    assert "read_result(" not in shown(provider.requests[0])[0]
