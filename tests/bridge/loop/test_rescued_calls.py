"""A call that a model printed as text is made, marked, and goes back as the model wrote it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import anyio
import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.mcp_peers import raw
from tests.support.waiting import BOUND_S
from tests.support.wire_peers import FORMATS, Peer, streamed, wires
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.events import End, Event, TextDelta, ToolCallStarted
from toolspan_bridge.loop import Question, answer, run
from toolspan_bridge.messages import Assistant
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.3.6")]

WRITTEN = 'I will.\n<tool_call>{"name": "raw__echo", "arguments": {"n": 1}}</tool_call>'


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def box() -> AsyncIterator[Toolbox]:
    async with Toolbox.connect([raw()]) as toolbox:
        yield toolbox


@pytest.mark.requirement("I11.4.2")
async def test_in_the_prompt_s_format_a_tool_may_be_called_by_its_own_name(box: Toolbox) -> None:
    written = '<tool_call>{"name": "echo", "arguments": {"n": 1}}</tool_call>'
    sent = [Sent(wires("openai").answer(text)) for text in (written, "Done.")]
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer("openai", fake.url).prompted()) as provider:
            told = await answer(Question("?", "m"), provider, box)
    assert told.tool_calls[0].result["result"] == '{"n": 1}'


@pytest.mark.requirement("I25.4.5")
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", FORMATS)
async def test_in_every_format_it_goes_back_as_the_model_wrote_it(
    wire: str, stream: bool, box: Toolbox
) -> None:
    sent = [
        streamed(wire, *wires(wire).frames(text)) if stream else Sent(wires(wire).answer(text))
        for text in (WRITTEN, "Done.", "Again.")
    ]
    talk = Conversation()
    with FakeProvider(anything, sent) as fake, anyio.fail_after(BOUND_S):
        async with aclosing(Peer(wire, fake.url)) as provider:
            asked = Question("?", "m", stream=stream, allowed_tools=("echo",))
            events = [event async for event in run(asked, provider, box, talk)]
            talk = Conversation.from_json(talk.to_json())
            await answer(asked, provider, box, talk)
    assert isinstance(events[-1], End)
    told = events[-1].answer
    assert (told.content, told.tool_calls[0].result["result"]) == ("Done.", '{"n": 1}')
    assert told.as_dict()["tool_calls"][0]["rescued"] is True
    assert [event.rescued for event in events if isinstance(event, ToolCallStarted)] == [True]
    assert "tool_call>" not in _shown(events)
    second, third = (received.content.decode() for received in fake.received[1:])
    for body in (second, third):
        sent_back = json.dumps(_messages(body))
        assert json.dumps(WRITTEN)[1:-1] in sent_back, "in its place, and whole"
        assert "The result of echo is:" in sent_back, "its result comes in words"
    whole = next(message for message in talk.messages if isinstance(message, Assistant))
    assert (whole.text.strip(), whole.calls[0].name) == ("I will.", "raw__echo")


@pytest.mark.requirement("I25.4.5")
async def test_to_another_provider_it_goes_as_a_call_of_the_channel(box: Toolbox) -> None:
    talk = Conversation()
    sent = [Sent(wires("openai").answer(text)) for text in (WRITTEN, "Done.")]
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer("openai", fake.url)) as provider:
            await answer(Question("?", "m"), provider, box, talk)
    talk.messages[:] = [
        replace(message, origin="another") if isinstance(message, Assistant) else message
        for message in talk.messages
    ]
    with FakeProvider(anything, [Sent(wires("anthropic").answer("Again."))]) as fake:
        async with aclosing(Peer("anthropic", fake.url)) as provider:
            await answer(Question("?", "m"), provider, box, talk)
        body = fake.received[0].content.decode()
    assert "tool_call>" not in body and '"tool_use"' in body


async def test_in_the_prompt_s_format_text_is_the_channel_and_nothing_is_marked(box: Toolbox) -> None:
    sent = [Sent(wires("openai").answer(text)) for text in ('{"tool": "echo", "input": {"n": 1}}', "Done.")]
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer("openai", fake.url).prompted()) as provider:
            told = await answer(Question("?", "m", allowed_tools=("echo",)), provider, box)
    assert (told.content, len(told.tool_calls)) == ("Done.", 1)
    assert "rescued" not in told.as_dict()["tool_calls"][0]


async def test_a_tool_that_is_not_offered_is_never_called_by_text(box: Toolbox) -> None:
    text = '{"name": "raw__error_text", "arguments": {}}'
    told = await answer(Question("?", "m", allowed_tools=("echo",)), Scripted([{"text": text}]), box)
    assert (told.content, told.tool_calls) == (text, ())


async def test_what_was_held_back_and_is_no_call_is_shown_in_full(box: Toolbox) -> None:
    pieces = ['{"na', 'me": "nobody"', ', "arguments": {}}']
    asked = Question("?", "m", stream=True)
    events = [event async for event in run(asked, Scripted([{"pieces": pieces}]), box)]
    assert _shown(events) == "".join(pieces)
    assert isinstance(events[-1], End) and events[-1].answer.content == "".join(pieces)


def _shown(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def _messages(content: str) -> object:
    body = json.loads(content)
    return body.get("messages") or body.get("contents") or body["input"]
