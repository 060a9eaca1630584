"""The rows: any provider that speaks OpenAI's Chat Completions."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything, checks
from tests.support.provider_cases import ANSWERED, ask
from toolspan_bridge.errors import (
    AuthError,
    ContextOverflowError,
    ProviderError,
    UnknownModelError,
    UnreachableError,
    UsageError,
)
from toolspan_bridge.messages import Usage
from toolspan_bridge.providers import resolve_model
from toolspan_bridge.providers.compatible.row import Row
from toolspan_bridge.providers.compatible.rows import row_names, row_of

pytestmark = pytest.mark.anyio

KEY = "sk-test-0123456789"
ROWS = {name: row_of(name) for name in row_names()}
CHAT = {name: row for name, row in ROWS.items() if row.format == "openai"}
LOCAL = [name for name, row in ROWS.items() if row.local]


def completion(**message: Any) -> dict[str, Any]:
    return {
        "choices": [{"message": {"role": "assistant", "content": None, **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7},
    }


CALLING = completion(
    tool_calls=[
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "config__get_weather", "arguments": '{"location": "Paris"}'},
        }
    ]
)


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return monkeypatch


@pytest.mark.requirement("I25.4.8")
@pytest.mark.parametrize("name", LOCAL)
async def test_an_answer_of_a_local_server_has_a_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = CHAT[name]
    answers = [Sent(completion(content="22 °C")), Sent(completion(content="22 °C"))]
    with FakeProvider(lambda received: None, answers) as fake:
        monkeypatch.setenv(row.base, f"{fake.url}/v1/")
        await ask(f"{name}/m")
        await ask(f"{name}/m", max_tokens=7)
    assert [received.body["max_tokens"] for received in fake.received] == [row.most_answer, 7]
    assert row.most_answer


_TOO_MANY = (
    "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is "
    "4096 tokens and your request has 96 input tokens (16384 > 4096 - 96).",
    "This model's maximum context length is 4096 tokens. However, you requested 16384 output tokens and your "
    "prompt contains 96 input tokens, for a total of 16480 tokens. Please reduce the length of the input "
    "prompt or the number of requested output tokens.",
)


@pytest.mark.requirement("I25.4.8")
@pytest.mark.parametrize("words", _TOO_MANY)
async def test_a_limit_of_ours_is_lowered_to_what_the_context_has_room_for(
    words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Sent({"object": "error", "message": words, "type": "BadRequestError", "code": 400}, status=400)
    good = Sent(completion(content="hi"))
    with FakeProvider(lambda received: None, [refused, good, refused]) as fake:
        monkeypatch.setenv("VLLM_BASE_URL", f"{fake.url}/v1")
        assert (await ask("vllm/m")).message.text == "hi"
        with pytest.raises(ContextOverflowError):
            await ask("vllm/m", max_tokens=16_384)
    assert [received.body["max_tokens"] for received in fake.received] == [16_384, 4_000, 16_384]


@pytest.mark.requirement("I25.4.8")
async def test_a_question_that_is_too_long_itself_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    words = _TOO_MANY[1].replace("96 input", "5000 input")
    refused = Sent({"object": "error", "message": words, "type": "BadRequestError", "code": 400}, status=400)
    with FakeProvider(lambda received: None, [refused]) as fake:
        monkeypatch.setenv("VLLM_BASE_URL", f"{fake.url}/v1")
        with pytest.raises(ContextOverflowError):
            await ask("vllm/m")
    assert len(fake.received) == 1


@pytest.mark.requirement("I2.6.2")
@pytest.mark.parametrize(("name", "row"), CHAT.items())
async def test_every_row_asks_and_answers_by_its_own_variables(
    name: str, row: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = checks.openai(KEY, limit=row.limit, row=name)
    with FakeProvider(check, [Sent(CALLING), Sent(completion(content="22 °C"))]) as fake:
        monkeypatch.setenv(row.key, KEY)
        monkeypatch.setenv(row.base, f"{fake.url}/v1/")
        first = await ask(f"{name}/some/model:free", max_tokens=100)
        second = await ask(f"{name}/some/model:free", messages=ANSWERED)
    (call,) = first.message.calls
    assert (call.id, call.name, call.arguments) == ("call_1", "config__get_weather", {"location": "Paris"})
    assert first.message.opaque is None and first.message.origin
    assert (first.usage.input_tokens, first.usage.output_tokens) == (11, 7)
    assert second.message.text == "22 °C"
    assert fake.received[0].body["model"] == "some/model:free"
    assert fake.received[0].body[row.limit] == 100


@pytest.mark.requirement("I2.6.2")
@pytest.mark.parametrize("name", sorted(set(ROWS) - set(LOCAL)))
def test_without_its_key_a_provider_is_refused_before_any_request(name: str) -> None:
    with pytest.raises(AuthError, match=f"{name} needs a key and {ROWS[name].key} is not set") as caught:
        resolve_model(f"{name}/m")
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("name", LOCAL)
async def test_a_local_server_needs_no_key_and_is_named_with_its_start_when_absent(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv(ROWS[name].base, base)
    with pytest.raises(UnreachableError) as caught:
        await ask(f"{name}/m")
    assert caught.value.exit_code == 4
    assert base in caught.value.message
    assert ROWS[name].local in caught.value.message


async def test_no_key_means_no_authorization_header(monkeypatch: pytest.MonkeyPatch) -> None:
    check = checks.openai("", limit="max_tokens", row="vllm")
    with FakeProvider(check, [Sent(completion(content="hi"))]) as fake:
        monkeypatch.setenv("VLLM_BASE_URL", f"{fake.url}/v1")
        assert (await ask("vllm/m")).message.text == "hi"


async def test_organization_and_project_go_into_their_headers(openai: pytest.MonkeyPatch) -> None:
    with FakeProvider(checks.openai(KEY), [Sent(completion(content="hi"))]) as fake:
        openai.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        openai.setenv("OPENAI_ORG_ID", "org-1")
        openai.setenv("OPENAI_PROJECT_ID", "proj-1")
        await ask("openai/m")
    headers = fake.received[0].headers
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-1", "proj-1")


@pytest.mark.requirement("I2.6.2")
@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_not_retried_and_names_provider_and_variable(
    status: int, openai: pytest.MonkeyPatch
) -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}", "type": "invalid_request_error"}}
    with FakeProvider(anything, [Sent(body, status=status)]) as fake:
        openai.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        with pytest.raises(AuthError, match=r"openai refused .*\[key\].*check OPENAI_API_KEY") as caught:
            await ask("openai/m")
    assert KEY not in str(caught.value)


async def test_an_unknown_model_is_named(openai: pytest.MonkeyPatch) -> None:
    body = {"error": {"message": "The model does not exist", "code": "model_not_found"}}
    with FakeProvider(anything, [Sent(body, status=404)]) as fake:
        openai.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        with pytest.raises(UnknownModelError, match=r"knows no 'gpt-99' \(404: The model does not exist"):
            await ask("openai/gpt-99")


async def test_other_errors_carry_the_providers_own_words_and_the_attempts(
    openai: pytest.MonkeyPatch,
) -> None:
    body = {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}
    replies = [Sent(body, status=429, headers={"Retry-After": "5"})] * 3
    with FakeProvider(anything, replies) as fake:
        openai.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        with pytest.raises(ProviderError) as caught:
            await ask("openai/m")
    said = "openai answered 429 rate_limit_exceeded: Rate limit reached; try again in 5 s (after 3 attempts)"
    assert caught.value.message == said
    assert (caught.value.status, caught.value.kind) == (429, "rate_limit_exceeded")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>Welcome to the proxy</html>", "<html>Welcome to the proxy</html>"),
        (b"", "empty"),
        (b"[]", "not a JSON object"),
        ({"choices": []}, "no choices"),
        ({"choices": [{"message": None}]}, "no message"),
        (f"oops {KEY}".encode(), r"oops \[key\]"),
        (b"[" * 90_000, "not JSON"),
    ],
)
async def test_a_200_that_is_no_answer_is_a_provider_error_with_a_snippet(
    body: Any, said: str, openai: pytest.MonkeyPatch
) -> None:
    with FakeProvider(anything, [Sent(body)]) as fake:
        openai.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        with pytest.raises(ProviderError, match=said) as caught:
            await ask("openai/m")
    assert fake.url in caught.value.message
    assert KEY not in caught.value.message


async def test_a_redirect_is_reported_and_the_key_is_not_carried_along(openai: pytest.MonkeyPatch) -> None:
    with FakeProvider(anything, []) as other:
        moved = Sent(b"", status=308, headers={"Location": f"{other.url}/v1/chat/completions"})
        with FakeProvider(anything, [moved]) as fake:
            openai.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
            with pytest.raises(ProviderError, match="308, a redirect"):
                await ask("openai/m")
        assert other.received == []


async def test_half_a_surrogate_pair_in_a_question_does_no_harm(openai: pytest.MonkeyPatch) -> None:
    with FakeProvider(checks.openai(KEY), [Sent(completion(content="hi"))]) as fake:
        openai.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        reply = await ask("openai/m", system="a\ud800b")
    assert reply.usage != Usage()
    assert "a" in fake.received[0].body["messages"][0]["content"]


def test_no_provider_shows_its_key_when_printed(openai: pytest.MonkeyPatch) -> None:
    provider, _ = resolve_model("openai/m")
    assert KEY not in f"{provider!r} {provider}"


@pytest.mark.requirement("I11.3.10")
def test_a_provider_with_an_address_for_every_user_says_which_variable_holds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (name,) = (name for name, row in ROWS.items() if row.per_resource)
    monkeypatch.setenv("AZURE_AI_API_KEY", KEY)
    monkeypatch.delenv("AZURE_AI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match=r"set AZURE_AI_BASE_URL, in the form https://RESOURCE\.services"):
        resolve_model(f"{name}/m")
    monkeypatch.setenv("AZURE_AI_BASE_URL", "https://mine.services.ai.azure.com/openai/v1")
    assert resolve_model(f"{name}/m")[1] == "m"
