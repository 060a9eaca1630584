"""How a call that a model wrote as text goes back to it, with its result: each rendering in every format."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from importlib import import_module
from typing import Any

import anyio
import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.mcp_peers import raw
from tests.support.waiting import BOUND_S
from tests.support.wire_peers import FORMATS, Peer, wires
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.formats.prompt.renderings import DEFAULT, RENDERINGS, Rendering
from toolspan_bridge.loop import Question, answer
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I25.4.9")]

WRITTEN = 'I will.\n<tool_call>{"name": "raw__echo", "arguments": {"n": 1}}</tool_call>'
NOTHING_ELSE = WRITTEN.partition("\n")[2]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def box() -> AsyncIterator[Toolbox]:
    async with Toolbox.connect([raw()]) as toolbox:
        yield toolbox


async def sent_back(
    wire: str, rendering: str, box: Toolbox, *, written: str = WRITTEN, tool: str = "echo"
) -> tuple[list[Any], dict[str, Any]]:
    """The bodies of the second and the third request of a conversation that began with a call as text."""
    sent = [Sent(wires(wire).answer(text)) for text in (written, "Done.", "Again.")]
    talk = Conversation()
    with FakeProvider(anything, sent) as fake, anyio.fail_after(BOUND_S):
        async with aclosing(Peer(wire, fake.url).rendered(rendering)) as provider:
            for _ in range(2):
                await answer(Question("?", "m", allowed_tools=(tool,)), provider, box, talk)
                talk = Conversation.from_json(talk.to_json())
    second, third = (json.loads(received.content) for received in fake.received[1:])
    return [second, third], {"messages": third.get("messages") or third.get("contents") or third["input"]}


@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.parametrize("name", RENDERINGS)
async def test_a_turn_goes_back_as_its_rendering_says(name: str, wire: str, box: Toolbox) -> None:
    rendering: Rendering = RENDERINGS[name]
    bodies, third = await sent_back(wire, name, box)
    check = import_module(f"tests.support.provider_rules.{wire.replace('-', '_')}").check_request
    for body in bodies:
        check(body)
    said = json.dumps(third)
    assert (json.dumps(WRITTEN)[1:-1] in said) == (rendering.text == "written")
    assert ("I will." in said) == (rendering.text != "none")
    assert said.count("raw__echo") - said.count("tool_call>") // 2 > 0 or not rendering.calls
    assert ("Now answer my question." in said) == rendering.tells
    assert ("The result of echo is:" in said) == rendering.tells
    assert ("<tool_result name=" in said) == (not rendering.calls)


@pytest.mark.parametrize("name", RENDERINGS)
async def test_a_result_that_fails_or_follows_a_call_alone_is_told_too(name: str, box: Toolbox) -> None:
    failing = NOTHING_ELSE.replace("raw__echo", "raw__error_text").replace('{"n": 1}', "{}")
    bodies, third = await sent_back("openai", name, box, written=failing, tool="error_text")
    import_module("tests.support.provider_rules.openai").check_request(bodies[-1])
    assert "[tool error]" in json.dumps(third)


async def test_what_came_by_its_own_channel_is_as_before_in_every_rendering(box: Toolbox) -> None:
    bodies: list[Any] = []
    for name in RENDERINGS:
        call = Sent(wires("openai").answer("", [("c1", "raw__echo", {"n": 1})]))
        with FakeProvider(anything, [call, Sent(wires("openai").answer("Done."))]) as fake:
            async with aclosing(Peer("openai", fake.url).rendered(name)) as provider:
                await answer(Question("?", "m", allowed_tools=("echo",)), provider, box)
        bodies.append(json.loads(fake.received[1].content)["messages"])
    assert all(body == bodies[0] for body in bodies)


async def test_in_the_prompt_s_format_no_rendering_applies(box: Toolbox) -> None:
    sent = [Sent(wires("openai").answer(text)) for text in (WRITTEN, "Done.")]
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer("openai", fake.url).prompted()) as provider:
            await answer(Question("?", "m", allowed_tools=("echo",)), provider, box)
    said, result = json.loads(fake.received[1].content)["messages"][-2:]
    assert (said["content"], result["content"]) == (
        WRITTEN,
        '<tool_result name="raw__echo">\n{"n": 1}\n</tool_result>',
    )


def test_the_usual_rendering_is_one_of_them() -> None:
    assert DEFAULT in RENDERINGS
