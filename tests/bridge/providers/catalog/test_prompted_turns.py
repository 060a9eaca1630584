"""Tools in the prompt beside a provider's own: what it has to get back goes back with the written calls."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, checks
from tests.support.outcomes import said, succeeded
from tests.support.provider_cases import QUESTION, ask, stream
from tests.support.wires import anthropic as wire
from tests.support.wires import openai as chat_wire
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import Message, Reply, ToolResults, User

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.1.22")]

KEY = "sk-ant-secret"
MODEL = "claude-sonnet-4-6"
CALL = {
    "type": "text",
    "text": '<tool_call>\n{"name": "config__get_weather", "arguments": {"location": "Paris"}}\n</tool_call>',
}
PAUSED = wire.message(wire.THOUGHT, wire.SEARCH, stop="pause_turn")
GONE_ON = wire.message(wire.FOUND, wire.CITED, CALL)


def reloaded(*messages: Message) -> tuple[Message, ...]:
    return tuple(Conversation.from_json(Conversation(list(messages)).to_json()).messages)


def answered(body: dict[str, Any], *, streamed: bool) -> Sent:
    if not streamed:
        return Sent(body)
    frames = [wire.sse(event) for event in wire.events(body)]
    return Sent(frames=frames, headers={"content-type": "text/event-stream"})


async def asked(model: str, *messages: Message, streamed: bool, **fields: Any) -> Reply:
    if streamed:
        return (await stream(model, messages=messages, **fields))[1]
    return await ask(model, messages=messages, **fields)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_pause_of_a_prompted_claude_and_the_call_after_it_keep_the_servers_blocks(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    own: dict[str, Any] = {"builtins": ("web_search",), "streamed": streamed}
    bodies = [PAUSED, GONE_ON, wire.answer("22 °C"), wire.answer("Sure.")]
    replies = [answered(body, streamed=streamed) for body in bodies]
    with FakeProvider(checks.anthropic(KEY), replies) as fake:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.url)
        model = f"prompt:anthropic/{MODEL}"
        paused = await asked(model, *QUESTION, **own)
        assert paused.stop == "pause" and not paused.message.calls
        gone_on = await asked(model, *QUESTION, *reloaded(paused.message), **own)
        (call,) = gone_on.message.calls
        assert call.arguments == {"location": "Paris"}
        (source,) = gone_on.message.citations
        assert gone_on.message.text[source.start : source.end] == wire.CITED["text"]
        result = ToolResults((succeeded(said("22 °C"), call_id=call.id),))
        told = (*QUESTION, *reloaded(paused.message, gone_on.message, result))
        last = await asked(model, *told, **own)
        await asked(f"anthropic/{MODEL}", *told, last.message, User("Sure?"), **own)
    second, third, native = (request.body["messages"] for request in fake.received[1:])
    assert second[1]["content"] == PAUSED["content"]
    assert third[1]["content"] == [*PAUSED["content"], *GONE_ON["content"]]
    assert third[2]["content"][0]["text"].startswith('<tool_result name="config__get_weather">')
    assert [block["type"] for block in native[1]["content"]] == ["thinking", "text"]
    assert '"name": "config__get_weather"' in native[1]["content"][1]["text"], "the call is as it was written"
    assert "22 °C" in native[2]["content"][0]["text"]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_reasoning_goes_back_with_a_written_call(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = chat_wire.answer(CALL["text"])
    body["choices"][0]["message"]["reasoning_content"] = "Paris it is."
    last = chat_wire.answer("22 °C")
    replies = [Sent(body), Sent(last)]
    if streamed:
        delta = chat_wire.chunk({"reasoning_content": "Paris it is.", "content": CALL["text"]})
        frames = [delta, chat_wire.chunk({}, "stop"), chat_wire.DONE]
        replies = [Sent(frames=frames), Sent(frames=chat_wire.frames("22 °C"))]
    check = checks.openai(KEY, limit="max_tokens", row="deepseek")
    with FakeProvider(check, replies) as fake:
        monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
        monkeypatch.setenv("DEEPSEEK_BASE_URL", f"{fake.url}/v1")
        first = await asked("prompt:deepseek/m", *QUESTION, streamed=streamed)
        result = ToolResults((succeeded(said("22 °C"), call_id=first.message.calls[0].id),))
        messages = (*QUESTION, *reloaded(first.message, result))
        await asked("prompt:deepseek/m", *messages, streamed=streamed)
    echo = fake.received[1].body["messages"][2]
    assert echo == {"role": "assistant", "content": echo["content"], "reasoning_content": "Paris it is."}
    assert "<tool_call>" in echo["content"]
