"""Answers that have to fit a JSON Schema: asked for, checked, repaired once, and an error else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.mcp_peers import raw
from tests.support.waiting import BOUND_S
from tests.support.wire_peers import FORMATS, Peer, streamed, wires
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.errors import UsageError
from toolspan_bridge.events import Answer
from toolspan_bridge.loop import Question, answer
from toolspan_bridge.messages import User
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.3.4")]

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
    "required": ["city", "degrees"],
    "additionalProperties": False,
}
OSLO = {"city": "Oslo", "degrees": 22}
GOOD, BAD = json.dumps(OSLO), '{"city": "Oslo", "degrees": "22"}'
ECHO = {"calls": [{"tool": "echo", "arguments": {"n": 1}}]}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def box() -> AsyncIterator[Toolbox]:
    async with Toolbox.connect([raw()]) as toolbox:
        yield toolbox


async def asked(
    box: Toolbox, *turns: Any, schema: Any = SCHEMA, talk: Conversation | None = None, **more: Any
) -> tuple[Answer, Scripted]:
    provider = Scripted(turns)
    question = Question("How warm is it?", "m", answer_schema=schema, **more)
    with anyio.fail_after(BOUND_S):
        return await answer(question, provider, box, talk), provider


@pytest.mark.parametrize("text", [GOOD, f"\n {GOOD} ", f"```json\n{GOOD}\n```", f"Here:\n```\n{GOOD}\n```\n"])
async def test_an_answer_that_fits_is_its_value(text: str, box: Toolbox) -> None:
    told, provider = await asked(box, {"text": text}, system="Be kind.")
    assert (told.fits, told.value, told.broken) == (True, OSLO, False)
    assert told.as_dict()["value"] == OSLO
    request = provider.requests[0]
    assert request.answer_schema == SCHEMA
    assert request.system.startswith("Be kind.\n\n") and json.dumps(SCHEMA) in request.system


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (BAD, "'degrees' must be an integer"),
        ("It is 22 °C.", "it is no JSON"),
        ('{"city": "Oslo"}', "degrees"),
    ],
)
async def test_the_model_is_told_once_what_does_not_fit(text: str, fault: str, box: Toolbox) -> None:
    told, provider = await asked(box, ECHO, {"text": text}, {"text": GOOD})
    assert (told.value, told.stop, len(told.tool_calls)) == (OSLO, "end", 1)
    last = provider.requests[-1].messages[-1]
    assert isinstance(last, User) and fault in last.text
    assert "max_iterations_reached" not in told.as_dict()


async def test_what_does_not_fit_twice_is_no_answer(box: Toolbox) -> None:
    talk = Conversation()
    told, provider = await asked(box, {"text": BAD}, {"text": BAD}, talk=talk)
    assert (told.stop, told.content, told.fits, len(provider.requests)) == ("schema", BAD, False, 2)
    assert "'degrees'" in told.reason and "value" not in told.as_dict()
    assert len(talk.messages) == 4


async def test_null_is_a_value_and_a_broken_turn_is_not_asked_again_for_its_schema(box: Toolbox) -> None:
    told, _ = await asked(box, {"text": "null"}, schema={"type": ["null", "string"]})
    assert told.as_dict()["value"] is None
    told, provider = await asked(box, {"text": '{"city', "stop": "length"})
    assert (told.stop, told.fits, len(provider.requests)) == ("length", False, 1)


async def test_a_repair_at_the_limit_of_turns_is_the_last_one(box: Toolbox) -> None:
    told, provider = await asked(box, ECHO, {"text": BAD}, {"text": GOOD}, max_iterations=1)
    assert (told.value, [r.tool_choice for r in provider.requests]) == (OSLO, ["auto", "none", "none"])


async def test_a_schema_that_is_none_is_refused_before_anything_is_asked(box: Toolbox) -> None:
    with pytest.raises(UsageError, match="no JSON Schema"):
        await asked(box, {"text": "x"}, schema={"type": "nothing"})


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", [*FORMATS, "prompt:openai"])
async def test_in_every_format_it_works_beside_tools_and_is_repaired(
    wire: str, stream: bool, box: Toolbox
) -> None:
    spoken = wire.removeprefix("prompt:")
    calls = [] if wire != spoken else [("call_1", "raw__echo", {"n": 1})]
    written = (
        '<tool_call>\n{"name": "raw__echo", "arguments": {"n": 1}}\n</tool_call>' if wire != spoken else ""
    )
    turns: list[Any] = [(written, calls), (BAD, []), (GOOD, [])]
    sent = [
        streamed(spoken, *wires(spoken).frames(*turn)) if stream else Sent(wires(spoken).answer(*turn))
        for turn in turns
    ]
    with FakeProvider(anything, sent) as fake:
        peer = Peer(spoken, fake.url)
        async with aclosing(peer if wire == spoken else peer.prompted()) as provider:
            question = Question("?", "m", answer_schema=SCHEMA, stream=stream, allowed_tools=("echo",))
            told = await answer(question, provider, box)
    assert (told.value, len(told.tool_calls)) == (OSLO, 1)
    bodies = [received.content.decode().replace("\\", "") for received in fake.received]
    assert all("degrees" in body for body in bodies)
    assert "'degrees' must be an integer" in bodies[2]
