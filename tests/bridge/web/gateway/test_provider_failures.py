"""What clients of the gateway are told of a provider's failures, by the official SDKs and on the wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx
import openai
import pytest

from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.gateway import gateway
from tests.support.wire_peers import Peer, streamed, wires

OPENAI = wires("openai")
ASKED: list[Any] = [{"role": "user", "content": "Hello"}]
PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/messages")
WHOLE_OR_STREAMED = pytest.mark.parametrize("in_pieces", [False, True], ids=["whole", "streamed"])


class Failing(FakeProvider):
    """Gives the same answer to every request."""

    def __init__(self, sent: Sent) -> None:
        super().__init__(anything, [])
        self._sent = sent

    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        return self._sent


@contextmanager
def failing(sent: Sent, wire_format: str = "openai") -> Iterator[Callable[..., httpx.Response]]:
    """Asks a gateway whose provider answers everything with ``sent``."""
    with Failing(sent) as fake, gateway(Peer(wire_format, fake.url)) as served:

        def ask(path: str, *, in_pieces: bool = False, **more: Any) -> httpx.Response:
            body = {"model": "m/x", "stream": in_pieces, **more}
            body |= {"input": "Hello"} if path.endswith("responses") else {"messages": ASKED}
            body |= {"max_tokens": 50} if path.endswith("messages") else {}
            return httpx.post(f"{served.url}{path}", json=body, timeout=30)

        yield ask


def error(status: int, message: str = "boom", code: str = "", **headers: str) -> Sent:
    body = {"error": {"message": message, "type": "x", **({"code": code} if code else {})}}
    return Sent(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


STATUSES: dict[str, tuple[Sent, int, str]] = {
    "a server's fault": (error(500), 502, "true"),
    "not implemented": (error(501), 502, "true"),
    "a bad gateway": (error(502), 502, "true"),
    "unavailable": (error(503), 503, "true"),
    "a gateway that waited": (error(504), 504, "true"),
    "overloaded": (error(529), 529, "true"),
    "a proxy's own fault": (error(520), 502, "true"),
    "a proxy that waited": (error(524), 504, "true"),
    "too many requests": (error(429, retry_after="4000"), 429, "true"),
    "a spent quota": (error(429, code="insufficient_quota"), 429, "false"),
    "said not to be tried again": (error(503, x_should_retry="false"), 503, "false"),
    "no credit": (error(402), 402, "false"),
    "a request that took too long": (error(408, x_should_retry="false"), 408, "false"),
    "a conflict": (error(409), 409, "true"),
    "the gateway's key refused": (error(401), 502, "false"),
    "the gateway's key not allowed": (error(403), 502, "false"),
    "a request that is wrong": (error(400), 400, "false"),
    "a request that cannot be processed": (error(422), 400, "false"),
    "no model of that name": (error(404), 404, ""),
    "an address that takes no such method": (error(405), 502, "false"),
    "a type that is not taken": (error(415), 502, "false"),
    "a condition of the account": (error(412, "Account is locked"), 502, "false"),
    "a failure of the model behind": (error(424), 502, "false"),
    "asked too early": (error(425, x_should_retry="true"), 503, "true"),
    "a tier that is full": (error(498, x_should_retry="true"), 503, "true"),
    "given up by the provider": (error(499), 502, "false"),
    "a proxy's firewall": (Sent(b"<html>Attention</html>", 403, {"content-type": "text/html"}), 502, "false"),
    "no credit, as a request that is wrong": (error(400, "Your credit balance is too low"), 402, "false"),
    "no credit, as a key that is refused": (error(403, "Sorry, your balance is insufficient"), 402, "false"),
    "no credit, as asked too much": (error(429, "Insufficient balance, please recharge"), 429, "false"),
    "a key, as a request that is wrong": (error(400, "Incorrect API key provided: xai"), 502, "false"),
    "a filter": (error(400, "The response was filtered", "content_filter"), 400, "false"),
    "a filter, as a key that is refused": (error(403, "Your input was flagged for violence"), 400, "false"),
    "a page": (Sent(b"<html><title>Log in</title></html>", headers={"content-type": "text/html"}), 502, ""),
    "an empty body": (Sent(b""), 502, ""),
    "no choices": (Sent({"id": "x", "choices": []}), 502, ""),
    "an error in the place of an answer": (Sent({"error": {"message": "boom", "code": 503}}), 503, "true"),
    "another status in its place": (
        Sent({"base_resp": {"status_code": 1008, "status_msg": "b"}}),
        402,
        "false",
    ),
    "an answer without words": (Sent(OPENAI.answer("")), 502, "true"),
}


@pytest.mark.requirement("I25.5.1")
@WHOLE_OR_STREAMED
@pytest.mark.parametrize("name", STATUSES)
def test_a_providers_failure_has_a_status_that_says_whose_it_is(name: str, in_pieces: bool) -> None:
    sent, status, again = STATUSES[name]
    with failing(sent) as ask:
        for path in PATHS:
            answer = ask(path, in_pieces=in_pieces)
            assert (answer.status_code, answer.headers.get("x-should-retry", "")) == (status, again), path
            assert answer.json()["error"]["message"]


@pytest.mark.requirement("I25.5.1")
@WHOLE_OR_STREAMED
def test_what_a_provider_says_of_its_limits_goes_on_to_the_client(in_pieces: bool) -> None:
    limits = {"x-ratelimit-remaining-tokens": "0", "anthropic-ratelimit-requests-reset": "soon"}
    sent = Sent({"error": {"message": "slow"}}, 429, {**limits, "Retry-After": "3600", "Set-Cookie": "a=b"})
    with failing(sent) as ask:
        for path in PATHS:
            headers = ask(path, in_pieces=in_pieces).headers
            assert {name: headers.get(name) for name in limits} == limits
            assert (headers["retry-after"], "set-cookie" in headers) == ("3600", False)


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "model": "m", "choices": [choice]}).encode() + b"\n\n"


def called(index: int, call_id: str, query: str) -> bytes:
    function = {"name": "look", "arguments": json.dumps({"q": query})}
    return chunk({"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]})


HALF, DONE = chunk({"role": "assistant", "content": "Half of the "}), b"data: [DONE]\n\n"
BROKEN: dict[str, Sequence[bytes]] = {
    "an error": [HALF, b'data: {"error": {"message": "boom", "code": 503}}\n\n'],
    "an error as a text": [HALF, b'data: {"error": "boom"}\n\n', DONE],
    "an error of vLLM": [HALF, b'data: {"object": "error", "message": "boom", "code": 500}\n\n'],
    "an error, then a reason to stop": [HALF, b'data: {"detail": "boom"}\n\n', chunk({}, "stop"), DONE],
    "a reason that says so": [HALF, chunk({}, "network_error"), DONE],
    "no end": [HALF],
    "an error after a call": [HALF, called(0, "c1", "x"), b'data: {"error": "boom"}\n\n'],
    "an end within a call": [HALF, called(0, "c1", "x")],
    "two calls under one id": [
        HALF,
        called(0, "c1", "x"),
        called(1, "c1", "y"),
        chunk({}, "tool_calls"),
        DONE,
    ],
    "a call that the provider cannot read": [
        HALF,
        called(0, "c1", "x"),
        chunk({}, "malformed_function_call"),
    ],
}
LOOK = {"type": "object", "properties": {"q": {"type": "string"}}}
TOOLS: dict[str, Any] = {
    "/v1/chat/completions": {"type": "function", "function": {"name": "look", "parameters": LOOK}},
    "/v1/responses": {"type": "function", "name": "look", "parameters": LOOK},
    "/v1/messages": {"name": "look", "input_schema": LOOK},
}
ENDS = {
    "/v1/chat/completions": ('"error":{', '"finish_reason":"'),
    "/v1/responses": ("event: response.failed", "event: response.completed"),
    "/v1/messages": ("event: error", "event: message_stop"),
}


@pytest.mark.requirement("I25.5.2")
@pytest.mark.parametrize("name", BROKEN)
def test_a_stream_that_breaks_ends_as_an_error_of_its_api(name: str) -> None:
    with failing(streamed("openai", *BROKEN[name])) as ask:
        for path in PATHS:
            answer = ask(path, in_pieces=True, tools=[TOOLS[path]])
            told, never = ENDS[path]
            assert (answer.status_code, "Half of the " in answer.text) == (200, True)
            assert told in answer.text and never not in answer.text
            assert not any(word in answer.text for word in ('"tool_calls"', '"function_call"', '"tool_use"'))


FAILED: dict[str, tuple[Any, tuple[str | None, ...], tuple[int, str], str]] = {
    # what the provider says, Chat's type and code, its status, Responses' code and Messages' type
    "overloaded": (
        {"message": "boom", "code": 503},
        ("server_error", None),
        (503, "server_is_overloaded"),
        "overloaded_error",
    ),
    "asked too much": (
        {"message": "boom", "code": "rate_limit_exceeded"},
        ("rate_limit_error", "rate_limit_exceeded"),
        (429, "rate_limit_exceeded"),
        "rate_limit_error",
    ),
    "no credit": (
        {"message": "boom", "code": 402},
        ("invalid_request_error", None),
        (402, "insufficient_quota"),
        "billing_error",
    ),
    "the gateway's key": (
        {"message": "boom", "type": "authentication_error"},
        ("server_error", "provider_auth"),
        (502, "server_error"),
        "api_error",
    ),
    "its own fault": (
        {"message": "boom", "type": "internal_error"},
        ("server_error", "internal_error"),
        (502, "server_error"),
        "api_error",
    ),
    "a request that it cannot go on with": (
        {"message": "boom", "type": "invalid_request_error"},
        ("invalid_request_error", "invalid_request_error"),
        (400, "invalid_prompt"),
        "invalid_request_error",
    ),
}


@pytest.mark.requirement("I25.5.2")
@pytest.mark.parametrize("name", FAILED)
def test_an_error_in_the_middle_of_a_stream_keeps_its_kind_in_the_shape_of_its_api(name: str) -> None:
    said, chat, (status, code), kind = FAILED[name]
    with failing(streamed("openai", HALF, b"data: " + json.dumps({"error": said}).encode() + b"\n\n")) as ask:
        last: dict[str, Any] = {}
        for path in PATHS:
            lines = [
                line for line in ask(path, in_pieces=True).text.splitlines() if line.startswith("data: ")
            ]
            last[path] = json.loads(lines[-1].removeprefix("data: "))
    told = last["/v1/chat/completions"]["error"]
    assert (told["type"], told["status"]) == (chat[0], status)
    assert chat[1] is None or told["code"] == chat[1]
    assert last["/v1/responses"]["response"]["error"]["code"] == code
    assert last["/v1/messages"]["error"]["type"] == kind
    assert all("boom" in json.dumps(event) for event in last.values())


OVERFLOWS: dict[str, tuple[str, str, str]] = {
    "both lengths": (
        "This model's maximum context length is 65536 tokens. However, your messages resulted in "
        "70000 tokens.",
        "prompt is too long: 70000 tokens > 65536 maximum",
        "maximum context length is 65536 tokens. However, your messages resulted in 70000 tokens",
    ),
    "with the limit of the answer": (
        "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is "
        "65536 tokens and your request has 40000 input tokens (32000 > 65536 - 40000).",
        "input length and `max_tokens` exceed context limit: 40000 + 32000 > 65536",
        "you requested 72000 tokens (40000 in the messages, 32000 in the completion)",
    ),
    "the most alone": (
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
        "prompt is too long: at most 1048576 tokens",
        "maximum context length is 1048576 tokens",
    ),
    "no lengths": (
        "Input is too long for requested model.",
        "prompt is too long",
        "exceeds the context window of this model",
    ),
}


@pytest.mark.requirement("I25.5.3")
@pytest.mark.parametrize("name", OVERFLOWS)
def test_a_request_that_is_too_long_is_told_in_the_words_of_the_api(name: str) -> None:
    said, anthropics, openais = OVERFLOWS[name]
    with failing(error(400, said)) as ask:
        for in_pieces in (False, True):
            told = ask("/v1/messages", in_pieces=in_pieces)
            assert (told.status_code, told.json()["error"]["type"]) == (400, "invalid_request_error")
            assert told.json()["error"]["message"].startswith(anthropics)
            told = ask("/v1/chat/completions", in_pieces=in_pieces)
            assert (told.status_code, told.json()["error"]["code"]) == (400, "context_length_exceeded")
            assert openais in told.json()["error"]["message"]
        whole = ask("/v1/responses")
        assert (whole.status_code, whole.json()["error"]["code"]) == (400, "context_length_exceeded")


@pytest.mark.requirement("I25.5.3")
def test_a_stream_of_responses_tells_in_itself_what_codex_looks_for_there() -> None:
    with failing(error(400, OVERFLOWS["both lengths"][0])) as ask:
        answer = ask("/v1/responses", in_pieces=True)
    last = json.loads(answer.text.strip().splitlines()[-1].removeprefix("data: "))
    assert (answer.status_code, last["type"]) == (200, "response.failed")
    assert last["response"]["error"]["code"] == "context_length_exceeded"
    assert "70000 tokens" in last["response"]["error"]["message"]


@pytest.mark.requirement("I25.5.3")
@pytest.mark.parametrize("wire_format", ["anthropic", "bedrock", "gemini", "ollama", "openai-responses"])
def test_every_format_tells_of_a_request_that_is_too_long(wire_format: str) -> None:
    said = "prompt is too long: 209353 tokens > 199999 maximum"
    sent = Sent(wires(wire_format).error(said, "ValidationException"), status=400)
    with failing(sent, wire_format) as ask:
        assert ask("/v1/messages").json()["error"]["message"].startswith(said)


@pytest.mark.requirement("I25.5.1")
@WHOLE_OR_STREAMED
def test_the_official_clients_try_again_what_can_be_tried_again(in_pieces: bool) -> None:
    for sent, times in ((error(503), 2), (error(429, code="insufficient_quota"), 1), (error(500), 2)):
        with Failing(sent) as fake, gateway(Peer("openai", fake.url)) as served:
            kinds = openai.InternalServerError, openai.RateLimitError
            with openai.OpenAI(base_url=f"{served.url}/v1", api_key="k", max_retries=1) as client:
                with pytest.raises(kinds):
                    client.chat.completions.create(model="m/x", messages=ASKED, stream=in_pieces)
                asked = len(fake.received)
                assert asked == times * (3 if times == 2 else 1)
            with anthropic.Anthropic(base_url=served.url, api_key="k", max_retries=1) as other:
                with pytest.raises(anthropic.APIStatusError):
                    other.messages.create(model="m/x", max_tokens=9, messages=ASKED, stream=in_pieces)
                assert len(fake.received) == 2 * asked
