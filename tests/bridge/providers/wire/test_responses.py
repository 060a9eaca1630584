"""OpenAI's Responses as a provider."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything, checks
from tests.support.provider_cases import QUESTION, ask, stream
from tests.support.wires.openai_responses import REASONING, answer, error, whole
from tests.support.wires.openai_responses import stream as frames_of
from toolspan_bridge.errors import AuthError, ProviderError
from toolspan_bridge.formats.openai_responses import parse_reply
from toolspan_bridge.messages import Message, ToolOutcome, ToolResults

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I5.3.1")]

KEY = "sk-test-0123456789"
CALLS = [("call_1", "config__get_weather", {"location": "Paris"})]
RESULTS = ToolResults(
    (ToolOutcome("call_1", "get_weather", {"success": True, "result": {"temperature": 22}}),)
)


async def test_it_asks_with_openais_variables_and_sends_its_reasoning_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    thought = whole([REASONING, *answer("", CALLS)["output"]])
    with FakeProvider(checks.responses(KEY), [Sent(thought), Sent(answer("22 °C"))]) as fake:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
        first = await ask("openai-responses/gpt-x", max_tokens=100)
        history: tuple[Message, ...] = (*QUESTION, first.message, RESULTS)
        second = await ask("openai-responses/gpt-x", messages=history)
    assert second.message.text == "22 °C"
    assert fake.received[0].headers["openai-organization"] == "org-1"
    assert fake.received[0].body["max_output_tokens"] == 100
    assert fake.received[1].body["input"][1:3] == thought["output"]


@pytest.mark.requirement("I5.1.2")
async def test_it_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider(checks.responses(KEY), [Sent(frames=frames_of(answer("Let me see.", CALLS)))]) as fake:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        text, reply = await stream("openai-responses/gpt-x")
    assert text == reply.message.text == "Let me see."
    assert [call.arguments for call in reply.message.calls] == [{"location": "Paris"}]
    assert fake.received[0].body["stream"] is True


async def test_a_wrong_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeProvider(
        anything, [Sent(error(f"no such key {KEY}", "invalid_request_error"), status=401)]
    ) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        with pytest.raises(AuthError, match="check OPENAI_API_KEY") as caught:
            await ask("openai-responses/gpt-x")
    assert KEY not in caught.value.message


async def test_an_answer_that_failed_after_200_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    failed = {**answer(), "status": "failed", "error": {"code": "server_error", "message": "It broke."}}
    with FakeProvider(anything, [Sent(failed)] * 3) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        with pytest.raises(ProviderError, match="It broke"):
            await ask("openai-responses/gpt-x")


@pytest.mark.requirement("I11.1.11", "I11.3.1")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_what_a_model_refuses_is_not_sent_and_the_reply_says_so(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    sent = Sent(frames=frames_of(answer("22 °C"))) if streamed else Sent(answer("22 °C"))
    with FakeProvider(checks.responses(KEY), [sent]) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        asked: dict[str, Any] = {"temperature": 0.2, "reasoning": "high", "stream": streamed}
        if streamed:
            _, reply = await stream("openai-responses/gpt-5.5", **asked)
        else:
            reply = await ask("openai-responses/gpt-5.5", **asked)
    assert reply.notes == ("The temperature is left out: gpt-5.5 takes none.",)
    assert fake.received[0].body["reasoning"]["effort"] == "high"


@pytest.mark.requirement("I11.1.9")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_thoughts_of_another_account_are_left_out_when_they_are_refused(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    thought = whole([REASONING, *answer("", CALLS)["output"]])
    history = (*QUESTION, parse_reply(thought).message, RESULTS)
    message = "The encrypted content gAAA could not be verified."
    refused = {"error": {"message": message, "code": "invalid_encrypted_content", "param": None}}
    sent = Sent(frames=frames_of(answer("22 °C"))) if streamed else Sent(answer("22 °C"))
    with FakeProvider(checks.responses(KEY), [Sent(refused, status=400), sent]) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        asked: dict[str, Any] = {"messages": history, "stream": streamed}
        if streamed:
            _, reply = await stream("openai-responses/gpt-5.5", **asked)
        else:
            reply = await ask("openai-responses/gpt-5.5", **asked)
    assert reply.message.text == "22 °C" and "left out earlier thoughts" in reply.notes[0]
    first, second = (request.body["input"] for request in fake.received)
    assert first[1:3] == thought["output"]
    assert [item.get("type") for item in second] == [None, "function_call", "function_call_output"]
    assert "id" not in second[1]
