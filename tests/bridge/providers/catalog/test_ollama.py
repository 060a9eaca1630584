"""Ollama: where it listens, and a context that holds the question."""

from __future__ import annotations

from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fake_providers import FakeProvider, Sent, anything, checks
from tests.support.histories import answered
from tests.support.provider_cases import ANSWERED, ask
from tests.support.seed_tools import SEED_TOOLS
from tests.support.wires import ollama as wire
from toolspan_bridge.errors import (
    AuthError,
    ContextOverflowError,
    ProviderError,
    UnknownModelError,
    UnreachableError,
    UsageError,
)
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Part,
    Reply,
    Request,
    User,
)
from toolspan_bridge.providers import resolve_model
from toolspan_bridge.providers.catalog.ollama import context_for
from toolspan_bridge.providers.settings.ollama_host import host_url
from toolspan_bridge.providers.wire.tokens import text_tokens

pytestmark = pytest.mark.anyio

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def shown(context: int) -> Sent:
    return Sent({"capabilities": ["tools"], "model_info": {"llama.context_length": context, "llama.rope": 1}})


SAID = Sent({"message": {"role": "assistant", "content": "22 °C"}, "done": True, "done_reason": "stop"})
CALLING = Sent(
    {
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "config__get_weather", "arguments": {"location": "Paris"}}}],
        },
        "done_reason": "stop",
        "prompt_eval_count": 11,
        "eval_count": 7,
    }
)


@pytest.mark.requirement("I2.6.2")
@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("10.0.0.5", "http://10.0.0.5:11434"),
        ("box", "http://box:11434"),
        ("box:8080", "http://box:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:9000", "http://127.0.0.1:9000"),
        ("http://0.0.0.0:9000", "http://127.0.0.1:9000"),
        ("[::]:9000", "http://[::1]:9000"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:9000", "http://[::1]:9000"),
        ("http://box", "http://box:80"),
        ("https://box", "https://box:443"),
        ("https://box:1234/ollama/", "https://box:1234/ollama"),
        ("ollama.com", "https://ollama.com:443"),
        (' "box:8080" ', "http://box:8080"),
    ],
)
def test_the_host_variable_is_read_in_all_its_forms(text: str, url: str) -> None:
    assert host_url(text) == url


@pytest.mark.parametrize("text", ["box:port", "box:99999", "ftp://box", "user:pw@box", "a b", "http://[::1"])
def test_what_is_no_address_is_refused_by_the_variables_name(text: str) -> None:
    with pytest.raises(UsageError, match="OLLAMA_HOST is no address"):
        host_url(text)


@given(text=st.text(max_size=30))
def test_whatever_the_host_variable_holds_it_is_an_address_or_refused(text: str) -> None:
    try:
        assert host_url(text).startswith(("http://", "https://"))
    except UsageError as error:
        assert "OLLAMA_HOST" in error.message


@pytest.mark.requirement("I2.6.2")
async def test_it_asks_and_answers_with_a_context_from_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider(checks.ollama(), [shown(131072), CALLING]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        reply = await ask("ollama/llama3.2:3b")
    (call,) = reply.message.calls
    assert (call.name, call.arguments) == ("config__get_weather", {"location": "Paris"})
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)
    show, chat = fake.received
    assert (show.target, show.body) == ("/api/show", {"model": "llama3.2:3b"})
    assert chat.body["options"].keys() == {"num_ctx", "num_predict"}
    assert chat.body["options"]["num_ctx"] == 8192
    assert (chat.body["truncate"], chat.body["shift"]) == (False, False)


async def test_a_large_question_gets_a_larger_context_up_to_the_models_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    large = (User("word " * 12_000),)
    with FakeProvider(checks.ollama(), [shown(131072), SAID, shown(16384), SAID]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        await ask("ollama/big", messages=large, temperature=0.5)
        await ask("ollama/small", messages=large)
    big, small = (fake.received[place].body["options"] for place in (1, 3))
    assert (big["num_ctx"], big["temperature"], small["num_ctx"]) == (32768, 0.5, 16384)


@pytest.mark.requirement("I25.4.8")
@pytest.mark.parametrize(
    ("words", "context", "limit"), [(1, 131_072, 8_192), (12_000, 131_072, 16_384), (12_000, 16_384, 4_384)]
)
async def test_an_answer_has_a_limit_that_the_context_has_room_for(
    words: int, context: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeProvider(checks.ollama(), [shown(context), SAID, SAID]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        provider, name = resolve_model("ollama/m")
        async with aclosing(provider):
            for asked in (
                Request(name, (User("word " * words),)),
                Request(name, (User("hi"),), max_tokens=7),
            ):
                await provider.answer(asked)
    given = fake.received[1].body["options"]
    assert limit // 2 < given["num_predict"] <= limit
    assert fake.received[2].body["options"]["num_predict"] == 7


async def test_the_context_is_asked_for_once_per_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider(checks.ollama(), [shown(8192), SAID, SAID]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        provider, name = resolve_model("ollama/m")
        for messages in (ANSWERED[:1], ANSWERED):
            await provider.answer(Request(name, messages, tools=SEED_TOOLS))
        await provider.aclose()
    assert [request.target for request in fake.received] == ["/api/show", "/api/chat", "/api/chat"]


@pytest.mark.parametrize(
    "answer",
    [
        Sent({"error": "no such route"}, status=404),
        Sent({}),
        Sent(b"<html>"),
        Sent([]),
        Sent({"model_info": 1}),
    ],
)
async def test_a_server_that_tells_no_context_is_asked_all_the_same(
    answer: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeProvider(checks.ollama(), [answer, SAID]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        assert (await ask("ollama/m")).message.text == "22 °C"


async def test_a_model_that_is_not_there_comes_with_the_command_that_fetches_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = Sent({"error": "model 'nope' not found"}, status=404)
    with FakeProvider(anything, [missing, missing]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        with pytest.raises(UnknownModelError, match=r"not found.*ollama pull nope"):
            await ask("ollama/nope")


async def test_without_a_server_the_error_asks_whether_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    with pytest.raises(UnreachableError, match=r"http://127\.0\.0\.1:1.*is `ollama serve` running\?"):
        await ask("ollama/m")


async def test_a_key_is_sent_when_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider(checks.ollama("k-1", path="/behind"), [shown(8192), SAID]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", f"{fake.url}/behind/")
        monkeypatch.setenv("OLLAMA_API_KEY", "k-1")
        await ask("ollama/m")


def test_the_cloud_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "https://ollama.com")
    with pytest.raises(AuthError, match="OLLAMA_API_KEY is not set"):
        resolve_model("ollama/m")


@given(needed=st.floats(1, 1e7), longest=st.integers(0, 10**7))
def test_a_context_holds_the_request_unless_the_model_cannot(needed: float, longest: int) -> None:
    size = context_for(needed, longest)
    assert size >= needed or size == longest
    assert size >= 8192 or size == longest
    assert size <= 2 * max(needed, 8192)


def model(*capabilities: str, context: int = 8192) -> Sent:
    return Sent({"capabilities": list(capabilities), "model_info": {"llama.context_length": context}})


@pytest.mark.requirement("I5.3.1")
async def test_a_model_without_tools_is_refused_with_the_way_to_tell_it_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FakeProvider(checks.ollama(), [model("completion"), model("completion"), SAID]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        with pytest.raises(ProviderError, match=r"cannot call tools.*--model prompt:ollama/gemma"):
            await ask("ollama/gemma")
        assert (await ask("prompt:ollama/gemma")).message.text == "22 °C"
    assert "tools" not in fake.received[-1].body
    assert "config__get_weather" in fake.received[-1].body["messages"][0]["content"]


@pytest.mark.requirement("I5.3.1")
@pytest.mark.parametrize(("capabilities", "sent"), [(("tools",), False), (("tools", "vision"), True)])
async def test_images_go_only_to_a_model_that_sees(
    capabilities: tuple[str, ...], sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = Part("image", {"data": PNG, "mimeType": "image/png"})
    with FakeProvider(checks.ollama(), [model(*capabilities), SAID]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        await ask("ollama/m", messages=(User("What is this?", (picture,)),))
    assert ("images" in fake.received[-1].body["messages"][-1]) is sent


@pytest.mark.requirement("I5.3.3")
async def test_what_the_models_context_cannot_hold_is_refused_before_it_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FakeProvider(checks.ollama(), [model("tools")]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        with pytest.raises(
            ContextOverflowError, match=r"needs about \d+,\d+ tokens, with \d tools.*holds 8,192"
        ) as caught:
            await ask("ollama/m", messages=(User("word " * 9_000),))
    assert "--trim" not in caught.value.message
    counted, most = caught.value.counted_tokens, caught.value.maximum_tokens
    assert counted and most == 8_192 < counted
    assert [request.target for request in fake.received] == ["/api/show"]


LONG = (User("word " * 5_000), Assistant("Yes."), User("more " * 3_000), Assistant("So."), User("And now?"))


@pytest.mark.requirement("I5.3.3")
async def test_a_long_conversation_is_refused_or_where_asked_trimmed_by_its_oldest_exchanges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FakeProvider(checks.ollama(), [model("tools"), model("tools"), SAID]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        with pytest.raises(ProviderError, match="drop the oldest messages with --trim"):
            await ask("ollama/m", messages=LONG, system="Be brief.")
        reply = await ask("ollama/m", messages=LONG, system="Be brief.", trim=True)
    assert reply.notes == ("The first 2 messages are left out: the context of m holds 8,192 tokens.",)
    sent = fake.received[-1].body
    assert [message["role"] for message in sent["messages"]] == ["system", "user", "assistant", "user"]
    assert len(sent["tools"]) == len(SEED_TOOLS)


@pytest.mark.requirement("I5.3.3")
@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("The weather in Paris is nice today.", 8), ('{"a": 1}', 5), ("日本語", 3), ("12345678", 4)],
)
def test_tokens_are_estimated_a_little_above_common_tokenizers(text: str, tokens: int) -> None:
    assert text_tokens(text) == tokens


def thinker(*values: object) -> Sent:
    body = {"capabilities": ["tools", "thinking"], "model_info": {"llama.context_length": 8192}}
    return Sent(body | ({"thinking": {"values": list(values), "default": True}} if values else {}))


@pytest.mark.requirement("I11.3.1")
@pytest.mark.parametrize(
    ("answer", "effort", "think"),
    [
        (thinker("low", "medium", "high"), "none", "low"),
        (thinker("low", "high"), "medium", "high"),
        (thinker(), "medium", True),
        (thinker(), "none", False),
        (thinker(False), "high", None),
        (model("tools"), "high", None),
    ],
)
async def test_an_effort_is_sent_as_the_model_takes_it(
    answer: Sent, effort: str, think: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeProvider(checks.ollama(), [answer, SAID]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        reply = await ask("ollama/m", reasoning=effort)
    assert fake.received[-1].body.get("think") == think
    told = ("The effort high is left out: m does not think.",)
    assert reply.notes == (told if answer.body["capabilities"] == ["tools"] else ())


@pytest.mark.requirement("I11.1.2")
@pytest.mark.parametrize("streams", [False, True])
async def test_a_second_turn_holds_the_thoughts_and_calls_of_the_first(
    streams: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [("thought", "Paris, then."), ("call", ("call_1", "config__get_weather", {"location": "Paris"}))]
    body, frames = wire.spoken(parts)
    end, last = wire.spoken([("text", "22 °C")])
    lines = {"content-type": "application/x-ndjson"}
    replies = [Sent(frames=frames, headers=lines), Sent(frames=last, headers=lines)]
    with FakeProvider(
        checks.ollama(), [thinker(), *(replies if streams else [Sent(body), Sent(end)])]
    ) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        provider, name = resolve_model("ollama/m")
        messages: list[Message] = [*ANSWERED[:1]]
        async with aclosing(provider):
            for _ in range(2):
                request = Request(name, tuple(messages), tools=SEED_TOOLS)
                if streams:
                    reply = [item async for item in provider.stream(request)][-1]
                else:
                    reply = await provider.answer(request)
                assert isinstance(reply, Reply)
                messages += [reply.message, *answered(reply.message.calls)]
    said, result = fake.received[-1].body["messages"][1:]
    assert (said["thinking"], said["tool_calls"][0]["id"]) == ("Paris, then.", "call_1")
    assert (result["tool_name"], result["tool_call_id"]) == ("config__get_weather", "call_1")
    assert isinstance(reply, Reply) and reply.message.text == "22 °C"
