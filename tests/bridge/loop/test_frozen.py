"""What a conversation's requests begin with stays what it was: the system prompt and the tools."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import anyio
import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.mcp_peers import raw
from tests.support.waiting import BOUND_S
from tests.support.wire_peers import FORMATS, Peer, streamed, wires
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.events import Answer, End, Event, Notice
from toolspan_bridge.loop import Question, run
from toolspan_bridge.messages import User
from toolspan_bridge.providers import Provider
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.1.5")]

ECHO = {"calls": [{"tool": "echo", "arguments": {"n": 1}}]}
HI = {"text": "hi"}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def box() -> AsyncIterator[Toolbox]:
    async with Toolbox.connect([raw()]) as toolbox:
        yield toolbox


async def asked(
    box: Toolbox, provider: Provider, talk: Conversation, system: str, *tools: str, **more: Any
) -> list[Event]:
    question = Question(
        "What now?", **{"model": "m1", "system": system, "allowed_tools": tools or None, **more}
    )
    with anyio.fail_after(BOUND_S):
        return [event async for event in run(question, provider, box, talk)]


def answered(events: list[Event]) -> Answer:
    assert isinstance(events[-1], End)
    return events[-1].answer


def names(request: Any) -> list[str]:
    return [tool.name for tool in request.tools]


async def test_another_system_prompt_is_a_message_and_each_is_said_once(box: Toolbox) -> None:
    provider, talk = Scripted([HI] * 4), Conversation()
    for system in ("Be kind.", "Be terse.", "Be terse.", ""):
        await asked(box, provider, talk, system)
    assert {request.system for request in provider.requests} == {"Be kind."}
    said = [message.text for message in talk.messages if isinstance(message, User)]
    assert [text.splitlines()[-1] for text in said] == [
        "What now?",
        "Be terse.",
        "What now?",
        "What now?",
        "From here on the earlier instructions no longer hold.",
        "What now?",
    ]


async def test_further_tools_come_last_and_what_is_not_allowed_is_refused(box: Toolbox) -> None:
    provider, talk = Scripted([HI, ECHO, HI, HI]), Conversation()
    await asked(box, provider, talk, "", "echo", "two_texts")
    second = answered(await asked(box, provider, talk, "", "error_text"))
    await asked(box, provider, talk, "", "echo")
    assert names(provider.requests[0]) == ["echo", "two_texts"]
    assert [names(request) for request in provider.requests[1:]] == [["echo", "two_texts", "error_text"]] * 3
    assert second.tool_calls[0].result["error_code"] == "tool_not_allowed"
    assert provider.requests[1].tools[0] is provider.requests[3].tools[0]


async def test_a_question_without_tools_leaves_them_in_the_list_and_allows_none(box: Toolbox) -> None:
    provider, talk = Scripted([HI, HI]), Conversation()
    await asked(box, provider, talk, "", "echo")
    await asked(box, provider, talk, "", allowed_tools=())
    assert [(names(r), r.tool_choice) for r in provider.requests] == [(["echo"], "auto"), (["echo"], "none")]


async def test_each_model_has_its_own_beginning_and_finds_it_again(box: Toolbox) -> None:
    provider, talk = Scripted([HI] * 3), Conversation()
    await asked(box, provider, talk, "A", "echo", model="a")
    await asked(box, provider, talk, "B", "error_text", model="b")
    await asked(box, provider, talk, "A", "echo", model="a")
    assert [(r.system, names(r)) for r in provider.requests] == [
        ("A", ["echo"]),
        ("B", ["error_text"]),
        ("A", ["echo"]),
    ]
    assert len({request.conversation for request in provider.requests}) == 1
    assert provider.requests[0].conversation == talk.id


async def test_it_is_saved_and_goes_on_as_it_was_also_when_a_tool_has_changed_since(box: Toolbox) -> None:
    provider, talk = Scripted([HI, ECHO, HI]), Conversation()
    await asked(box, provider, talk, "A", "echo")
    beginning = talk.beginnings["scripted/m1"]
    older = replace(beginning.tools[0], description="as it was")
    talk.beginnings["scripted/m1"] = replace(beginning, tools=(older,))
    again = Conversation.from_json(talk.to_json())
    assert (again.id, again.beginnings) == (talk.id, talk.beginnings)
    events = await asked(box, provider, again, "B", "echo")
    assert provider.requests[-1].tools == (older,)
    assert answered(events).tool_calls[0].result["success"]
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert notices and "definition of echo has changed" in notices[0]
    assert Conversation.from_json(again.to_json()).instructions == "B"


async def test_a_refresh_begins_with_what_is_there_now(box: Toolbox) -> None:
    provider, talk = Scripted([HI] * 3), Conversation()
    await asked(box, provider, talk, "A", "echo")
    await asked(box, provider, talk, "B", "echo")
    talk.refresh()
    await asked(box, provider, talk, "A", "error_text")
    assert (provider.requests[-1].system, names(provider.requests[-1])) == ("A", ["error_text"])
    assert [m.text.splitlines()[-1] for m in talk.messages[-3:-1] if isinstance(m, User)] == [
        "A",
        "What now?",
    ]


async def test_a_file_from_before_is_read_and_gets_an_id(box: Toolbox) -> None:
    data = json.dumps({"toolspan_conversation": 1, "messages": [{"role": "user", "text": "hi"}]}).encode()
    talk = Conversation.from_json(data)
    assert talk.messages == [User("hi")] and talk.id and talk.beginnings == {}


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", FORMATS)
async def test_in_every_format_a_request_begins_as_those_before_it(
    wire: str, stream: bool, box: Toolbox
) -> None:
    calls = [("call_1", "raw__echo", {"n": 1})]
    turns: list[Any] = [("", calls), ("It is so.", []), ("Still.", [])]
    sent = [
        streamed(wire, *wires(wire).frames(*turn)) if stream else Sent(wires(wire).answer(*turn))
        for turn in turns
    ]
    talk = Conversation()
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer(wire, fake.url)) as provider:
            await asked(box, provider, talk, "Be kind.", "echo", stream=stream)
            talk = Conversation.from_json(talk.to_json())
            events = await asked(box, provider, talk, "Be terse.", "echo", "error_text", stream=stream)
    assert answered(events).content == "Still."
    bodies = [json.loads(received.content) for received in fake.received]
    assert "Be terse." in json.dumps(bodies[2]) and "Be terse." not in json.dumps(bodies[1])
    written = [json.dumps(body, sort_keys=True) for body in bodies]
    assert "Be kind." in written[2]
    last = _common(bodies[1], bodies[2])
    assert "raw__echo" in last and "Be kind." in last


def _common(first: Any, second: Any) -> str:
    """The members of two bodies that are equal, and the equal beginnings of their lists, as JSON."""
    kept: dict[str, Any] = {}
    for key in first:
        if isinstance(first[key], list):
            pairs = zip(first[key], second[key], strict=False)
            kept[key] = [one for one, other in pairs if one == other]
            assert len(kept[key]) == len(first[key]) or key == "tools"
        elif first[key] == second[key]:
            kept[key] = first[key]
    return json.dumps(kept)
