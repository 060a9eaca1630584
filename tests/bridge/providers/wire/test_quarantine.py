"""A tool that a provider refuses is found, left out and told of; the turn is asked for once more."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.provider_settings import instant
from toolspan_bridge.errors import ProviderError
from toolspan_bridge.events import Notice
from toolspan_bridge.loop import Question, answer, run
from toolspan_bridge.messages import (
    Reply,
    Request,
    ToolSpec,
    User,
)
from toolspan_bridge.messages.deltas import TextDelta
from toolspan_bridge.providers import Provider, resolve_model
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I5.2.5")]

SAID = {"choices": [{"message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}]}
CHUNKS = [
    b'data: {"choices":[{"index":0,"delta":{"content":"done"}}]}\n\n',
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
]


def tools(count: int) -> tuple[ToolSpec, ...]:
    return tuple(
        ToolSpec("s", f"t{number:03}", "Does it.", {"type": "object", "properties": {}})
        for number in range(count)
    )


class Picky(FakeProvider):
    """Refuses each request that has one of the tools ``bad``, in the words of ``refusal``."""

    def __init__(self, *bad: str, named: bool = False, message: str = "") -> None:
        super().__init__(anything, [])
        self._bad = {f"s__{name}" for name in bad}
        self._named = named
        self._message = message or "Invalid JSON schema in one of the tools"
        self.asked: list[list[str]] = []

    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        names = [tool["function"]["name"] for tool in request.body.get("tools", [])]
        self.asked.append(names)
        if found := self._bad.intersection(names):
            said = f"Invalid schema for function '{min(found)}': no" if self._named else self._message
            return Sent({"error": {"message": said, "type": "invalid_request_error"}}, status=400)
        return Sent(frames=CHUNKS) if request.body.get("stream") else Sent(SAID)


@asynccontextmanager
async def provider(fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Provider]:
    monkeypatch.setenv("VLLM_BASE_URL", f"{fake.url}/v1")
    found, _ = resolve_model("vllm/m", instant())
    async with aclosing(found):
        yield found


def request(count: int, **fields: Any) -> Request:
    return Request("m", (User("Do it."),), tools=tools(count), **fields)


async def test_a_tool_that_is_named_is_left_out_at_once_and_stays_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Picky("t001", named=True) as fake:
        async with provider(fake, monkeypatch) as vllm:
            first = await vllm.answer(request(3))
            second = await vllm.answer(request(3))
    assert (first.message.text, second.message.text) == ("done", "done")
    assert fake.asked == [["s__t000", "s__t001", "s__t002"], ["s__t000", "s__t002"], ["s__t000", "s__t002"]]
    (note,) = first.notes
    assert "'t001' of s is left out, vllm refuses it" in note and "Invalid schema for function" in note
    assert second.notes == (note,)


@pytest.mark.parametrize("place", [0, 5, 63, 99])
async def test_a_tool_that_is_not_named_is_found_by_halves(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Picky(f"t{place:03}") as fake:
        async with provider(fake, monkeypatch) as vllm:
            reply = await vllm.answer(request(100))
    assert reply.message.text == "done"
    assert f"'t{place:03}' of s is left out" in reply.notes[0]
    halves, proof, answered = 7, 2, 1
    assert len(fake.asked) - 1 <= halves + proof + answered
    assert fake.asked[-3:-1] == [[f"s__t{place:03}"], ["probe__ping"]]
    assert len(fake.asked[-1]) == 99
    assert all(each.body["max_tokens"] == 16 for each in fake.received[1:-1])


async def test_a_stream_is_cured_before_its_first_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    with Picky("t002") as fake:
        async with provider(fake, monkeypatch) as vllm:
            items = [item async for item in vllm.stream(request(4))]
    assert items[0] == TextDelta("done")
    reply = items[-1]
    assert isinstance(reply, Reply) and "'t002'" in reply.notes[0]
    streamed = [bool(each.body.get("stream")) for each in fake.received]
    assert streamed[0] and streamed[-1] and not any(streamed[1:-1])


@pytest.mark.parametrize(
    "message",
    [
        "temperature is not supported",
        "This model does not support tools",
        "maximum context length is 8192 tokens, the messages and functions need more",
    ],
)
async def test_a_refusal_of_something_else_is_told_without_another_request(
    message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Picky("t000", message=message) as fake:
        async with provider(fake, monkeypatch) as vllm:
            with pytest.raises(ProviderError, match=message[:20]):
                await vllm.answer(request(8))
    assert len(fake.asked) == 1


@pytest.mark.parametrize("named", [True, False])
async def test_several_refused_tools_are_found_one_after_the_other(
    named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Picky("t000", "t007", named=named) as fake:
        async with provider(fake, monkeypatch) as vllm:
            reply = await vllm.answer(request(8))
            await vllm.answer(request(8))
    assert [("'t000'" in note, "'t007'" in note) for note in reply.notes] == [(True, False), (False, True)]
    assert [len(fake.asked[0]), len(fake.asked[-1])] == [8, 6]


class Offended(FakeProvider):
    """Refuses every request with tools, or with more than ``most``, in words about tools that name none."""

    def __init__(self, most: int) -> None:
        super().__init__(anything, [])
        self._most = most

    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        if len(request.body.get("tools", [])) > self._most:
            return Sent({"error": {"message": "The tools cannot be used here"}}, status=400)
        return Sent(SAID)


@pytest.mark.requirement("I11.2.2")
@pytest.mark.parametrize("most", [0, 2])
async def test_without_proof_against_one_of_them_every_tool_stays(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Offended(most) as fake:
        async with provider(fake, monkeypatch) as vllm:
            for _ in range(2):
                with pytest.raises(ProviderError, match="cannot be used here"):
                    await vllm.answer(request(8))
    assert [len(each.body["tools"]) for each in fake.received].count(8) == 2


@pytest.mark.requirement("I11.2.2")
@pytest.mark.parametrize("streamed", [False, True])
async def test_the_only_tool_is_not_left_out_for_a_parser_that_the_server_lacks(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    with Picky("t000", message=said) as fake:
        async with provider(fake, monkeypatch) as vllm:
            with pytest.raises(ProviderError, match="--model prompt:vllm/m") as caught:
                if streamed:
                    [item async for item in vllm.stream(request(1))]
                else:
                    await vllm.answer(request(1))
    assert (caught.value.fault, len(fake.asked)) == ("no_tools", 1)
    assert "start the server with --enable-auto-tool-choice and the --tool-call-parser" in str(caught.value)


async def test_the_tool_that_must_be_called_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with Picky("t001", named=True) as fake:
        async with provider(fake, monkeypatch) as vllm:
            with pytest.raises(ProviderError, match="Invalid schema"):
                await vllm.answer(request(3, tool_choice=("s", "t001")))
    assert len(fake.asked) == 1


async def test_a_place_beyond_the_tools_is_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = {"error": {"message": "no", "param": "tools[7].type", "type": "invalid_request_error"}}
    with FakeProvider(anything, [Sent(refusal, status=400)]) as fake:
        async with provider(fake, monkeypatch) as vllm:
            with pytest.raises(ProviderError) as caught:
                await vllm.answer(request(3))
    assert caught.value.tool == 7


async def test_the_run_tells_it_and_its_answer_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    toolbox = Toolbox(())
    toolbox.tools = tools(3)
    with Picky("t001", named=True) as fake:
        async with provider(fake, monkeypatch) as vllm:
            events = [event async for event in run(Question("Do it.", "m"), vllm, toolbox)]
    told = [event.text for event in events if isinstance(event, Notice)]
    assert len(told) == 1 and "'t001'" in told[0]
    with Picky("t001", named=True) as fake:
        async with provider(fake, monkeypatch) as vllm:
            kept = (await answer(Question("Do it.", "m"), vllm, toolbox)).as_dict()
    assert json.loads(json.dumps(kept))["notes"] == told
