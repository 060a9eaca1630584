"""Turns that are no answers: invented results, calls in thoughts, calls nobody can read, and silence."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.local_tools import Performed, turn
from tests.support.local_tools import box as local_box
from tests.support.mcp_peers import raw
from tests.support.waiting import BOUND_S
from tests.support.wire_peers import Peer, streamed, wires
from toolspan_bridge import Conversation
from toolspan_bridge.conversation.fork import forked
from toolspan_bridge.events import End, Event, Notice, ReasoningDelta, TextDelta
from toolspan_bridge.formats.prompt.rescue import UNREAD
from toolspan_bridge.loop import Question, run
from toolspan_bridge.messages import Assistant, User
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.toolbox import Toolbox

pytestmark = pytest.mark.anyio

CALL = '<tool_call>{"name": "raw__echo", "arguments": {"n": 1}}</tool_call>'
INVENTED = '\n<tool_result name="raw__echo">\nsunny-xyz\n</tool_result>\nIt is sunny-xyz.'
BASES = ["openai", "ollama", "anthropic"]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def box() -> AsyncIterator[Toolbox]:
    async with Toolbox.connect([raw()]) as toolbox:
        yield toolbox


async def asked(
    wire: str, texts: list[str], box: Toolbox, *, stream: bool, prompted: bool = False
) -> tuple[list[Event], list[Any], Conversation]:
    """What comes of the ``texts`` of a model, the bodies that it was sent, and the conversation."""
    sent = [
        streamed(wire, *wires(wire).frames(text)) if stream else Sent(wires(wire).answer(text))
        for text in texts
    ]
    talk = Conversation()
    with FakeProvider(anything, sent) as fake, anyio.fail_after(BOUND_S):
        async with aclosing(Peer(wire, fake.url)) as peer:
            provider = peer.prompted() if prompted else peer
            question = Question("?", "m", stream=stream, allowed_tools=("echo",))
            events = [event async for event in run(question, provider, box, talk)]
        return events, [json.loads(each.content) for each in fake.received], talk


def answer_of(events: list[Event]) -> Any:
    assert isinstance(events[-1], End)
    return events[-1].answer


@pytest.mark.requirement("I25.4.6")
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", BASES)
async def test_what_a_model_makes_of_results_that_it_invented_is_dropped_and_its_call_made(
    wire: str, stream: bool, box: Toolbox
) -> None:
    events, bodies, talk = await asked(
        wire, [f"I look.\n{CALL}{INVENTED}", "Done."], box, stream=stream, prompted=True
    )
    told = answer_of(events)
    assert (told.content, [use.result["result"] for use in told.tool_calls]) == ("Done.", ['{"n": 1}'])
    assert "sunny-xyz" not in json.dumps(bodies) + talk.to_json().decode()
    assert "sunny-xyz" not in "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.requirement("I25.4.6")
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_invented_results_without_a_call_are_no_answer_and_asked_for_again_once(
    stream: bool, box: Toolbox
) -> None:
    events, bodies, _ = await asked("openai", [INVENTED, "Done."], box, stream=stream, prompted=True)
    assert (answer_of(events).content, len(bodies)) == ("Done.", 2)
    events, bodies, talk = await asked("openai", [INVENTED] * 2, box, stream=stream, prompted=True)
    told = answer_of(events)
    assert (told.content, told.stop, len(bodies)) == ("", "malformed", 2)
    assert (
        "wrote the results of its calls itself" in told.reason and "sunny-xyz" not in talk.to_json().decode()
    )


@pytest.mark.requirement("I25.4.6")
@pytest.mark.parametrize(
    ("wire", "path"),
    [
        ("openai", ("stop",)),
        ("ollama", ("options", "stop")),
        ("anthropic", ("stop_sequences",)),
        ("gemini", ("generationConfig", "stopSequences")),
        ("bedrock", ("inferenceConfig", "stopSequences")),
    ],
)
async def test_a_server_is_asked_to_stop_the_model_where_results_begin(
    wire: str, path: tuple[str, ...], box: Toolbox
) -> None:
    _, (body,), _ = await asked(wire, ["Done."], box, stream=False, prompted=True)
    for name in path:
        body = body[name]
    assert "<tool_result" in body


@pytest.mark.requirement("I25.1.3")
@pytest.mark.parametrize("prompted", [True, False], ids=["prompted", "native"])
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", BASES)
@pytest.mark.parametrize(
    "thoughts",
    [
        f"Maybe {CALL}? no.\n</think>\n\n",
        f"<think>{CALL}</think>",
        f"[THINK]{CALL}[/THINK]",
        f"<thinking>{CALL}</thinking>\n",
        f"<|channel|>analysis<|message|>{CALL}<|end|><|start|>assistant<|channel|>final<|message|>",
    ],
)
async def test_a_call_that_is_only_thought_of_is_never_made(
    thoughts: str, wire: str, stream: bool, prompted: bool, box: Toolbox
) -> None:
    events, bodies, talk = await asked(wire, [f"{thoughts}Hi."], box, stream=stream, prompted=prompted)
    told = answer_of(events)
    assert (told.tool_calls, len(bodies)) == ((), 1)
    if wire == "anthropic" and not prompted:
        return  # its servers tell thoughts from text themselves
    assert told.content == "Hi."
    (said,) = [message for message in talk.messages if isinstance(message, Assistant)]
    assert said.text == "Hi."
    if stream:
        assert shown_at_last(events) == "Hi."
        assert any(
            isinstance(event, ReasoningDelta) and CALL in event.text for event in whole_thoughts(events)
        )


def shown_at_last(events: list[Event]) -> str:
    shown = ""
    for event in events:
        if isinstance(event, TextDelta):
            shown += event.text
        elif isinstance(event, ReasoningDelta) and event.was_text:
            shown = ""
    return shown


def whole_thoughts(events: list[Event]) -> list[ReasoningDelta]:
    return [ReasoningDelta("".join(event.text for event in events if isinstance(event, ReasoningDelta)))]


@pytest.mark.requirement("I25.4.4")
async def test_markup_that_is_left_in_an_answer_is_a_notice(box: Toolbox) -> None:
    text = '<tool_call>{"name": "nobody", "arguments": {}}</tool_call>'
    events, _, _ = await asked("openai", [text], box, stream=False)
    assert UNREAD in answer_of(events).notes and Notice(UNREAD) in events


@pytest.mark.requirement("I25.4.7")
@pytest.mark.parametrize(
    "before",
    [[("look", "a")], [("look", "a"), ("look", "b")]],
    ids=["that alone", "that and another one"],
)
async def test_a_model_that_repeats_a_call_is_told_the_results_once(before: list[tuple[str, str]]) -> None:
    talk = Conversation()
    turns = [turn(*((tool, {"at": at}) for tool, at in before)) for _ in range(3)]
    question = Question("?", "m", max_iterations=9)
    scripted = Scripted([*turns, {"text": "It is so."}])
    events = [event async for event in run(question, scripted, local_box(Performed("look")), talk)]
    assert answer_of(events).content == "It is so."
    told = [message.text for message in talk.messages if isinstance(message, User)]
    assert told[-1].startswith("The result of look ") and told[-1].endswith("Now answer my question.")
    assert told[-1].count("The result of look") == len(before)
    assert all(f'{{"at":"{at}"}}' in told[-1] for _, at in before[1:])

    for further in ([{"text": ""}], [turn(("look", {"at": "a"})), {"text": ""}]):
        scripted, talk = Scripted([*turns, *further]), Conversation()
        events = [event async for event in run(question, scripted, local_box(Performed("look")), talk)]
        assert (answer_of(events).stop, answer_of(events).content) == ("empty", "")
        assert sum(isinstance(message, User) for message in talk.messages) == 2, "it is told once"


@pytest.mark.requirement("I25.4.7")
async def test_a_model_that_says_nothing_after_a_repeat_among_other_calls_is_told_too() -> None:
    talk = Conversation()
    again = ("look", {"at": "a"})
    turns = [turn(again), turn(again), turn(again, ("look", {"at": "b"}))]
    scripted = Scripted([*turns, {"text": ""}, {"text": "It is so."}])
    question = Question("?", "m", max_iterations=9)
    events = [event async for event in run(question, scripted, local_box(Performed("look")), talk)]
    assert (answer_of(events).content, answer_of(events).repeated_calls_stopped) == ("It is so.", True)


@pytest.mark.requirement("I25.4.8")
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_call_that_the_server_cannot_read_is_told_to_the_model(stream: bool, box: Toolbox) -> None:
    words = "The model produced output that does not match the expected peg-native format"
    failed = Sent(
        json.dumps({"error": {"code": 500, "message": words, "type": "server_error"}}).encode(), 500
    )
    good = (
        streamed("openai", *wires("openai").frames("Done."))
        if stream
        else Sent(wires("openai").answer("Done."))
    )
    with FakeProvider(anything, [failed, good]) as fake, anyio.fail_after(BOUND_S):
        async with aclosing(Peer("openai", fake.url)) as provider:
            question = Question("?", "m", stream=stream, allowed_tools=("echo",))
            events = [event async for event in run(question, provider, box, Conversation())]
        second = json.loads(fake.received[1].content)
    assert answer_of(events).content == "Done."
    assert words in second["messages"][-1]["content"]


@pytest.mark.requirement("I25.2.2")
async def test_what_was_told_once_is_not_told_again_in_a_saved_copied_or_resumed_conversation(
    box: Toolbox,
) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "full_moon"}
    talk = Conversation()
    told: list[int] = []
    with FakeProvider(anything, [Sent({"choices": [choice]})] * 3) as fake:
        async with aclosing(Peer("openai", fake.url)) as peer:
            for _ in range(3):
                events = [event async for event in run(Question("?", "m"), peer, box, talk)]
                told.append(sum(isinstance(each, Notice) and "full_moon" in each.text for each in events))
                talk = forked(Conversation.from_json(talk.to_json()))
    assert told == [1, 0, 0]


@pytest.mark.requirement("I25.2.3")
@pytest.mark.parametrize("wire", BASES)
async def test_an_answer_that_is_all_thought_says_so(wire: str, box: Toolbox) -> None:
    events, _, _ = await asked(wire, ["<think>Hm, hm."], box, stream=True)
    assert (answer_of(events).stop, "it only thought" in answer_of(events).reason) == ("empty", True)
