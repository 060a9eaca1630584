"""The loop over streamed answers: pieces told as they come, broken and paused turns, cancellation."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from typing_extensions import override

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.mcp_peers import raw
from tests.support.outcomes import image
from tests.support.provider_settings import instant
from tests.support.waiting import BOUND_S
from tests.support.wire_peers import FORMATS, Peer, streamed, wires
from toolspan_bridge.errors import ProviderError
from toolspan_bridge.events import (
    Answer,
    CallDelta,
    End,
    Event,
    IterationStarted,
    Notice,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    UsageReported,
)
from toolspan_bridge.loop import Question, run
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Reply,
    Request,
    ToolResults,
    Usage,
    User,
)
from toolspan_bridge.messages.deltas import Delta
from toolspan_bridge.providers import Provider
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I5.1.2")]

ECHO = {"calls": [{"tool": "echo", "arguments": {"n": 1}}]}
TEXT = "It is 22 °C in Oslo."


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def box() -> AsyncIterator[Toolbox]:
    async with Toolbox.connect([raw()]) as toolbox:
        yield toolbox


async def told(
    box: Toolbox, provider: Provider, transcript: list[Message] | None = None, **question: Any
) -> list[Event]:
    with anyio.fail_after(BOUND_S):
        asked = Question("What now?", "m1", stream=True, **question)
        return [event async for event in run(asked, provider, box, transcript)]


def answered(events: list[Event]) -> Answer:
    assert isinstance(events[-1], End)
    return events[-1].answer


def notices(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


async def test_pieces_are_told_as_they_come_and_then_the_whole(box: Toolbox) -> None:
    turns = [
        {"reasoning": "Hm.", "pieces": ["Let me ", "look."], **ECHO, "usage": {"input_tokens": 3}},
        {"pieces": ["do", "ne"], "usage": {"input_tokens": 4, "reasoning_tokens": 1}},
    ]
    events = await told(box, Scripted(turns))
    assert [type(event) for event in events] == [
        IterationStarted,
        ReasoningDelta,
        TextDelta,
        TextDelta,
        CallDelta,
        UsageReported,
        Text,
        ToolCallStarted,
        ToolCallFinished,
        IterationStarted,
        TextDelta,
        TextDelta,
        UsageReported,
        Text,
        End,
    ]
    assert answered(events).content == "done"
    assert answered(events).usage == Usage(input_tokens=7, reasoning_tokens=1)


class _Ready(Scripted):
    """Has every piece ready."""

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        for _ in range(_PIECES):
            yield TextDelta("word ")
        yield Reply(Assistant("word " * _PIECES), "stop")


_PIECES = 20_000


@pytest.mark.requirement("I24.5.6")
async def test_others_have_their_turn_while_a_provider_has_many_pieces_ready(box: Toolbox) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    async with anyio.create_task_group() as group:
        group.start_soon(others)
        events = run(Question("What now?", "m1", stream=True), _Ready([]), box)
        at = [turns async for event in events if isinstance(event, TextDelta)]
        group.cancel_scope.cancel()
    assert len(at) == _PIECES
    assert at[-1] - at[0] > 3


async def test_without_stream_nothing_is_told_in_pieces(box: Toolbox) -> None:
    events = [event async for event in run(Question("?", "m"), Scripted([{"pieces": ["a", "b"]}]), box)]
    assert [type(event) for event in events] == [IterationStarted, UsageReported, Text, End]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.requirement("I5.1.6")
async def test_every_format_calls_a_tool_and_answers(wire: str, stream: bool, box: Toolbox) -> None:
    calls: list[tuple[str, str, dict[str, int]]] = [("call_1", "raw__echo", {"n": 1})]
    answers: list[tuple[str, list[tuple[str, str, dict[str, int]]]]] = [("", calls), (TEXT, [])]
    sent = [
        streamed(wire, *wires(wire).frames(*each)) if stream else Sent(wires(wire).answer(*each))
        for each in answers
    ]
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer(wire, fake.url)) as provider:
            asked = Question("?", "m", stream=stream)
            events = [event async for event in run(asked, provider, box)]
    answer = answered(events)
    assert (answer.content, [use.result["result"] for use in answer.tool_calls]) == (TEXT, ['{"n": 1}'])
    assert '"n": 1' in fake.received[1].content.decode().replace("\\", "").replace('":1', '": 1')
    assert answer.usage.input_tokens > 0 and len(answer.usage.raw) == 2


async def test_a_turn_that_broke_off_within_a_call_is_asked_for_once_more(box: Toolbox) -> None:
    turns = [{"text": "Let me", **ECHO, "incomplete": True}, ECHO, {"text": "done"}]
    provider = Scripted(turns)
    transcript: list[Message] = []
    events = await told(box, provider, transcript)
    assert "asked for again: the script breaks off" in notices(events)[0]
    assert provider.requests[1].messages == (User("What now?"),)
    assert len(answered(events).tool_calls) == 1
    assert answered(events).iterations == 2 and not answered(events).incomplete
    assert [type(message) for message in transcript] == [User, Assistant, ToolResults, Assistant]


async def test_what_breaks_off_twice_ends_the_answer_and_no_call_of_it_is_made(box: Toolbox) -> None:
    broken = {"text": "Let me", **ECHO, "incomplete": True}
    transcript: list[Message] = []
    events = await told(box, Scripted([broken, broken]), transcript)
    answer = answered(events)
    assert (answer.content, answer.tool_calls, answer.as_dict()["incomplete"]) == ("Let me", (), True)
    assert "A call in it was not made. the script breaks off here" in notices(events)[-1]
    assert transcript == [User("What now?"), Assistant("Let me", incomplete=True)]


async def test_the_text_of_a_broken_answer_is_kept_and_marked(box: Toolbox) -> None:
    transcript: list[Message] = []
    events = await told(box, Scripted([{"pieces": ["It ", "is"], "incomplete": True}]), transcript)
    assert answered(events).content == "It is" and answered(events).incomplete
    assert "broke off and is incomplete" in notices(events)[-1]
    assert transcript[-1] == Assistant("It is", incomplete=True)


async def test_calls_of_an_incomplete_reply_are_never_made_whatever_the_provider_says(box: Toolbox) -> None:
    reply = Scripted([{"text": "Sure.", **ECHO}])
    events = await told(box, _Sly(reply))
    assert answered(events).tool_calls == () and answered(events).content == "Sure."


class _Sly(Scripted):
    """Says that its reply is incomplete, and leaves the calls in it."""

    def __init__(self, inner: Scripted) -> None:
        super().__init__([])
        self._inner = inner

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        reply = await self._inner.answer(request)
        yield Reply(reply.message, incomplete=True, trouble="it says so")


async def test_a_paused_turn_is_sent_back_as_it_is_and_its_text_is_part_of_the_answer(box: Toolbox) -> None:
    paused = Reply(Assistant("I searched. ", opaque=[{"a": 1}], opaque_format="x"), "pause")
    provider = Scripted([paused, {"text": "It rains."}])
    transcript: list[Message] = []
    events = await told(box, provider, transcript)
    assert provider.requests[1].messages == (User("What now?"), paused.message)
    assert answered(events).content == "I searched. It rains." and answered(events).iterations == 1
    assert transcript == [User("What now?"), paused.message, Assistant("It rains.")]


async def test_a_turn_that_is_paused_without_end_is_not_sent_back_without_end(box: Toolbox) -> None:
    events = await told(box, Scripted([Reply(Assistant("", opaque=[1], opaque_format="x"), "pause")] * 9))
    assert "paused its answer more than 8 times" in notices(events)[-1]


async def test_cancelling_keeps_what_came_marked(box: Toolbox) -> None:
    frames = wires("openai").frames(TEXT)
    transcript: list[Message] = []
    with FakeProvider(anything, [streamed("openai", *frames[:4], stall=True)]) as fake:
        async with aclosing(Peer("openai", fake.url)) as provider:
            with anyio.CancelScope() as scope:
                async for event in run(Question("?", "m", stream=True), provider, box, transcript):
                    if isinstance(event, TextDelta) and len(event.text) > 1:
                        scope.cancel()
    assert scope.cancelled_caught
    kept = transcript[-1]
    assert isinstance(kept, Assistant) and kept.incomplete and TEXT.startswith(kept.text) and kept.text
    assert transcript[:-1] == [User("?")]


async def test_a_consumer_that_leaves_within_a_stream_ends_it_and_keeps_what_came(box: Toolbox) -> None:
    transcript: list[Message] = []
    asked = Question("?", "m", stream=True)
    async with aclosing(run(asked, Scripted([{"pieces": ["one", "two"]}]), box, transcript)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert transcript == [User("?"), Assistant("one", incomplete=True)]


async def test_an_error_before_the_first_piece_leaves_no_trace(box: Toolbox) -> None:
    transcript: list[Message] = []
    with pytest.raises(ProviderError):
        await told(box, Scripted([{"error": {"message": "overloaded"}}]), transcript)
    assert transcript == []


@pytest.mark.requirement("I5.4.5")
@pytest.mark.parametrize("wire", FORMATS)
async def test_row_114_a_silent_stream_ends_with_its_text_kept_and_marked(wire: str, box: Toolbox) -> None:
    frames = wires(wire).frames(TEXT)
    transcript: list[Message] = []
    with FakeProvider(anything, [streamed(wire, *frames[: len(frames) // 2], stall=True)]) as fake:
        async with aclosing(Peer(wire, fake.url, instant(idle=0.1))) as provider:
            events = await told(box, provider, transcript)
    answer = answered(events)
    assert answer.incomplete and TEXT.startswith(answer.content) and answer.content
    assert transcript == [User("What now?"), Assistant(answer.content, incomplete=True)]
    assert "nothing more within 0.1 s" in notices(events)[-1]


@pytest.mark.requirement("I5.4.5")
async def test_row_106_the_attempts_that_it_took_are_told(box: Toolbox) -> None:
    sent = [Sent(status=529), streamed("anthropic", *wires("anthropic").frames(TEXT))]
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer("anthropic", fake.url)) as provider:
            assert notices(await told(box, provider)) == ["acme answered at attempt 2."]


@pytest.mark.long
@pytest.mark.requirement("I5.4.5")
@pytest.mark.parametrize("wire", FORMATS)
async def test_row_111_five_hundred_calls_give_five_hundred_results_and_sixteen_are_made(
    wire: str, box: Toolbox
) -> None:
    calls = [(f"call_{n}", "raw__echo", {"n": n}) for n in range(500)]
    sent = [
        streamed(wire, b"".join(wires(wire).frames("", calls))),
        streamed(wire, *wires(wire).frames("done")),
    ]
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer(wire, fake.url, instant(max_bytes=10_000_000))) as provider:
            answer = answered(await told(box, provider))
    codes = [use.result.get("error_code") for use in answer.tool_calls]
    assert codes == [None] * 16 + ["too_many_calls"] * 484


@pytest.mark.requirement("I5.4.5")
@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.parametrize("kind", ["same", "alternating", "fresh"])
async def test_row_112_calls_without_end_are_stopped_and_the_transcript_is_kept(
    wire: str, kind: str, box: Toolbox
) -> None:
    numbers = {"same": [0] * 6, "alternating": [0, 1] * 3, "fresh": list(range(6))}[kind]
    frames = [wires(wire).frames("", [(f"call_{at}", "raw__echo", {"n": n})]) for at, n in enumerate(numbers)]
    sent = [streamed(wire, *each) for each in (*frames, wires(wire).frames("Enough."))]
    transcript: list[Message] = []
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer(wire, fake.url)) as provider:
            answer = answered(await told(box, provider, transcript, max_iterations=6))
    made = sum(bool(use.result["success"]) for use in answer.tool_calls)
    assert (made, answer.repeated_calls_stopped) == {
        "same": (2, True),
        "alternating": (4, True),
        "fresh": (6, False),
    }[kind]
    assert answer.max_iterations_reached and answer.content == "Enough."
    told_again = kind != "fresh"
    assert len(transcript) == 1 + 2 * 6 + told_again + 1


@pytest.mark.requirement("I5.4.5")
@pytest.mark.parametrize("wire", FORMATS)
async def test_rows_109_and_113_bad_arguments_and_unknown_tools_go_back_to_the_model(
    wire: str, box: Toolbox
) -> None:
    calls: list[tuple[str, str, dict[str, int]]] = [
        ("call_1", "raw__ecko", {}),
        ("call_2", "RAW__ECHO", {}),
        ("call_3", "raw__two_texts", {}),
        ("call_4", "raw__echo", {"n": 1}),
    ]
    sent = [streamed(wire, *wires(wire).frames("", calls)), streamed(wire, *wires(wire).frames("done"))]
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer(wire, fake.url)) as provider:
            answer = answered(await told(box, provider, allowed_tools=("echo",)))
    codes = [use.result.get("error_code") for use in answer.tool_calls]
    assert codes == ["tool_not_found", "tool_not_found", "tool_not_allowed", None]
    assert "not allowed here" in fake.received[1].content.decode()


@pytest.mark.requirement("I5.1.5")
async def test_a_built_in_tool_goes_to_who_has_it_and_is_noticed_where_no_one_has(box: Toolbox) -> None:
    frames = wires("anthropic").frames("found")
    with FakeProvider(anything, [streamed("anthropic", *frames)]) as fake:
        async with aclosing(Peer("anthropic", fake.url)) as provider:
            events = await told(box, provider, builtins=("web_search", "mind_reading"))
    assert any("web_search" in str(tool.get("type")) for tool in fake.received[0].body["tools"])
    assert ["mind_reading" in text for text in notices(events)] == [True]
    provider = Scripted([{"text": "hi"}])
    events = await told(box, provider, builtins=("web_search",))
    assert "has no built-in tool 'web_search'" in notices(events)[0]
    assert provider.requests[0].builtins == ()


@pytest.mark.requirement("I5.1.5")
async def test_a_model_that_cannot_mix_gets_the_tools_alone_and_it_is_noticed(box: Toolbox) -> None:
    with FakeProvider(anything, [streamed("gemini", *wires("gemini").frames("found"))]) as fake:
        async with aclosing(Peer("gemini", fake.url)) as provider:
            events = await told(box, provider, builtins=("web_search",))
    assert all("googleSearch" not in tool for tool in fake.received[0].body["tools"])
    assert notices(events) == ["m1 takes no built-in tools beside others: web_search left out"]


@pytest.mark.requirement("I5.1.4")
async def test_images_go_with_the_question_and_a_model_without_eyes_is_noticed(box: Toolbox) -> None:
    provider = Scripted([{"text": "a cat"}])
    events = await told(box, provider, parts=(image(),), vision=False)
    assert provider.requests[0].messages == (User("What now?", (image(),)),)
    assert provider.requests[0].vision is False
    assert "accepts no images" in notices(events)[0]


@pytest.mark.requirement("I5.5.1")
async def test_the_tools_of_a_run_are_the_same_objects_in_every_turn(box: Toolbox) -> None:
    from toolspan_bridge.formats.names import NameTable

    provider = Scripted([ECHO, {"text": "done"}])
    await told(box, provider, allowed_tools=("echo",))
    first, second = (NameTable.of(request.tools) for request in provider.requests)
    assert first is second
