"""The turn after a call: each row gets back what it wants of its own answer, and nothing that it refuses."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, checks
from tests.support.outcomes import PNG, image, said, succeeded
from tests.support.provider_settings import instant
from tests.support.seed_tools import SEED_TOOLS
from tests.support.wires import openai as wire
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Reply,
    Request,
    ToolCall,
    ToolResults,
    User,
)
from toolspan_bridge.providers import resolve_model
from toolspan_bridge.providers.compatible.rows import row_names, row_of

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.1.2")]

KEY = "sk-test-0123456789"
CHAT = [name for name in row_names() if row_of(name).format == "openai"]
DETAILS = [
    {"type": "reasoning.text", "text": "Paris it is.", "signature": "c2ln", "index": 0, "format": "x-v1"},
    {"type": "reasoning.encrypted", "data": "ZW5j", "id": "rs_1", "index": 1, "format": "x-v1"},
]
SIGNED = {"google": {"thought_signature": "c2ln"}}
THINKING = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "Paris it is."}]},
    {"type": "text", "text": "Let me see."},
]
FOREIGN = (
    User("And in Rome?"),
    Assistant("", (ToolCall("call_from_elsewhere", "config__get_weather", {"location": "Rome"}),)),
    ToolResults((succeeded(said("30 °C"), call_id="call_from_elsewhere"),)),
    Assistant("30 °C"),
)
GIVEN: dict[str, dict[str, Any]] = {
    "cerebras": {"reasoning": "Paris it is."},
    "deepseek": {"reasoning_content": "Paris it is."},
    "minimax": {"reasoning_details": DETAILS},
    "moonshot": {"reasoning_content": "Paris it is."},
    "zai": {"reasoning_content": "Paris it is."},
    "groq": {"reasoning": "Paris it is."},
    "mistral": {"content": THINKING},
    "openrouter": {"reasoning": "Paris it is.", "reasoning_details": DETAILS},
    "vllm": {"reasoning_content": "Paris it is."},
}
STATEFUL = ("openrouter", "vllm")


def calling(row: str) -> dict[str, Any]:
    """An answer with a call, and the state that the provider ``row`` adds."""
    body = wire.answer("Let me see.", [("c1", "config__get_weather", {"location": "Paris"})])
    message = body["choices"][0]["message"]
    message |= GIVEN.get(row, {})
    if row in STATEFUL:
        message["tool_calls"][0]["extra_content"] = SIGNED
    return body


def sent(body: dict[str, Any], *, streamed: bool) -> Sent:
    """``body`` whole, or as its stream: each member of the message in a chunk of its own."""
    if not streamed:
        return Sent(body)
    (choice,) = body["choices"]
    message = choice["message"]
    deltas = [{key: value} for key, value in message.items() if key not in ("role", "tool_calls")]
    calls = [{"index": place, **call} for place, call in enumerate(message.get("tool_calls", []))]
    frames = [*map(wire.chunk, deltas), wire.chunk({"tool_calls": calls}) if calls else b""]
    last = wire.chunk({}, choice["finish_reason"], usage=body["usage"])
    return Sent(frames=[*frames, last, wire.DONE], headers={"content-type": "text/event-stream"})


async def ask(model: str, messages: tuple[Message, ...], *, streamed: bool) -> Reply:
    provider, name = resolve_model(model, instant())
    request = Request(name, messages, tools=SEED_TOOLS)
    async with aclosing(provider):
        if not streamed:
            return await provider.answer(request)
        async with aclosing(provider.stream(request)) as items:
            return [item async for item in items if isinstance(item, Reply)][-1]


def reloaded(*messages: Message) -> tuple[Message, ...]:
    return tuple(Conversation.from_json(Conversation(list(messages)).to_json()).messages)


def serve(monkeypatch: pytest.MonkeyPatch, row: str, *answers: Sent) -> FakeProvider:
    """The strict fake of ``row``, which ``ask`` then finds."""
    about = row_of(row)
    fake = FakeProvider(checks.openai(KEY, limit=about.limit, row=row), answers)
    monkeypatch.setenv(about.key, KEY)
    monkeypatch.setenv(about.base, f"{fake.url}/v1")
    return fake


@pytest.mark.requirement("I11.1.3")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("row", CHAT)
async def test_a_call_is_answered_saved_taken_elsewhere_and_brought_back(
    row: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "groq" if row != "groq" else "deepseek"
    answers = [sent(calling(row), streamed=streamed), *[sent(wire.answer("22 °C"), streamed=streamed)] * 2]
    elsewhere = sent(wire.answer("Still 22 °C"), streamed=streamed)
    with serve(monkeypatch, row, *answers) as fake, serve(monkeypatch, other, elsewhere) as away:
        question = (*FOREIGN, User("And in Paris?"))
        first = await ask(f"{row}/m", question, streamed=streamed)
        assert first.message.text == "Let me see."
        result = ToolResults((succeeded(said("22 °C"), image(), call_id=first.message.calls[0].id),))
        second = (*question, *reloaded(first.message, result))
        answer = await ask(f"{row}/m", second, streamed=streamed)
        third = (*second, *reloaded(answer.message), User("Sure?"))
        assured = await ask(f"{other}/m", third, streamed=streamed)
        back = (*third, *reloaded(assured.message), User("Really?"))
        await ask(f"{row}/m", back, streamed=streamed)
    for request in fake.received[1:]:
        echo = request.body["messages"][5]
        assert echo["tool_calls"][0]["function"]["arguments"] == '{"location":"Paris"}'
        assert {key: echo.get(key) for key in GIVEN.get(row, {})} == GIVEN.get(row, {})
        assert echo["tool_calls"][0].get("extra_content") == (SIGNED if row in STATEFUL else None)
    assert "Paris it is." not in away.received[0].content.decode()
    assert "c2ln" not in away.received[0].content.decode()


@pytest.mark.parametrize("row", ["deepseek", "moonshot"])
async def test_turns_without_reasoning_get_a_blank_where_the_provider_demands_some(
    row: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(monkeypatch, row, Sent(wire.answer("22 °C"))) as fake:
        await ask(f"{row}/m", (*FOREIGN, User("And in Paris?")), streamed=False)
    turns = [message for message in fake.received[0].body["messages"] if message["role"] == "assistant"]
    assert [turn["reasoning_content"] for turn in turns] == [" ", " "]


@pytest.mark.requirement("I11.1.4")
async def test_mistral_gets_images_in_the_result_short_ids_and_no_user_after_a_tool(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = (ToolCall("D681PevKs", "config__get_weather", {}), ToolCall("call_2", "config__get_weather", {}))
    outcomes = (
        succeeded(said("a"), image(), call_id="D681PevKs"),
        succeeded(said("b"), call_id="call_2"),
    )
    broken = (User("hi"), Assistant("", calls), ToolResults(outcomes), User("so?"))
    with serve(monkeypatch, "mistral", sent(wire.answer("Yes"), streamed=True)) as fake:
        await ask("mistral/m", broken, streamed=True)
    body = fake.received[0].body
    assert "stream_options" not in body
    user, assistant, first, second, between, last = body["messages"]
    assert [user["role"], between["role"], last["role"]] == ["user", "assistant", "user"]
    assert first["tool_call_id"] == "D681PevKs" == assistant["tool_calls"][0]["id"]
    assert second["tool_call_id"] == assistant["tool_calls"][1]["id"] != "call_2"
    assert first["content"] == [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    ]


@pytest.mark.parametrize("row", ["openai", "openai-chat"])
async def test_openai_gets_nothing_but_its_own_fields_back(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call = replace(FOREIGN[1].calls[0], opaque=SIGNED)  # type: ignore[union-attr]
    state = Assistant("", (call,), {"reasoning": "Hm."}, "openai", origin="openai")
    with serve(monkeypatch, row, Sent(wire.answer("22 °C"))) as fake:
        await ask(f"{row}/m", (FOREIGN[0], state, FOREIGN[2]), streamed=False)
    assert fake.received[0].body["messages"][1].keys() == {"role", "content", "tool_calls"}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_minimax_keeps_thoughts_out_of_the_text_and_gets_them_back(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [
        sent(calling("minimax"), streamed=streamed),
        *[sent(wire.answer("22 °C"), streamed=streamed)] * 2,
    ]
    with serve(monkeypatch, "minimax", *answers) as fake:
        question = (User("And in Paris?"),)
        first = await ask("minimax/MiniMax-M2.1", question, streamed=streamed)
        result = ToolResults((succeeded(said("22 °C"), call_id=first.message.calls[0].id),))
        await ask("minimax/MiniMax-M2.1", (*question, *reloaded(first.message, result)), streamed=streamed)
        await ask("minimax/abab7-chat", question, streamed=streamed)
    assert [request.body.get("reasoning_split") for request in fake.received] == [True, True, None]
    assert fake.received[1].body["messages"][1]["reasoning_details"] == DETAILS
