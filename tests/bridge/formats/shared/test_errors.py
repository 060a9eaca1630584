"""Providers' error answers: kind, message, whether to ask again and when."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolspan_bridge.formats import get_format

pytestmark = pytest.mark.requirement("I2.6.2")

OPENAI, BEDROCK, GEMINI, OLLAMA = (get_format(name) for name in ("openai", "bedrock", "gemini", "ollama"))


def openai(status: int = 429, headers: dict[str, str] | None = None, **error: Any) -> Any:
    return OPENAI.parse_error(
        status, headers or {}, json.dumps({"error": {"message": "m", **error}}).encode()
    )


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_what_may_pass_is_asked_again(status: int) -> None:
    assert openai(status).retryable


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_will_not_pass_is_not_asked_again(status: int) -> None:
    assert not openai(status).retryable


@pytest.mark.parametrize(
    "kind", ["insufficient_quota", "team_spend_limit_exceeded", "credit_balance_exhausted"]
)
@pytest.mark.parametrize("key", ["type", "code"])
def test_an_exhausted_quota_is_final_whatever_the_headers_say(kind: str, key: str) -> None:
    error = openai(headers={"x-should-retry": "true"}, **{key: kind})
    assert (error.kind, error.retryable) == (kind, False)


def test_the_provider_may_say_itself_whether_to_ask_again() -> None:
    assert openai(400, {"X-Should-Retry": "true"}).retryable
    assert not openai(500, {"x-should-retry": "false"}).retryable


@pytest.mark.parametrize(
    ("headers", "after"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:10 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 10.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "Date": "Wed, 21 Oct 2026 07:29:00 GMT"}, 0.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"Retry-After": "later"}, None),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "inf"}, None),
    ],
)
def test_when_to_ask_again(headers: dict[str, str], after: float | None) -> None:
    assert openai(headers=headers).retry_after == after


def test_openai_names_the_code_before_the_type() -> None:
    assert openai(type="requests", code="rate_limit_exceeded").kind == "rate_limit_exceeded"


def test_geminis_error_may_come_in_a_list_and_tells_its_delay() -> None:
    details = [
        {"@type": "…Help"},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.5s"},
    ]
    body = [{"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED", "details": details}}]
    error = GEMINI.parse_error(429, {}, json.dumps(body).encode())
    assert (error.kind, error.message, error.retry_after) == ("RESOURCE_EXHAUSTED", "slow", 3.5)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"x-amzn-ErrorType": "ThrottlingException:http://internal.amazon.com/"}, {"message": "m"}),
        ({}, {"__type": "com.amazon.coral#ThrottlingException", "Message": "m"}),
        ({}, {"code": "ThrottlingException", "message": "m"}),
    ],
)
def test_bedrocks_kind_is_found_in_the_header_or_the_body(headers: dict[str, str], body: Any) -> None:
    error = BEDROCK.parse_error(429, headers, json.dumps(body).encode())
    assert (error.kind, error.message, error.retryable) == ("ThrottlingException", "m", True)


@pytest.mark.parametrize(("behind", "again"), [(400, False), (429, True), (500, True), (None, False)])
def test_a_models_own_error_is_judged_by_the_status_behind_it(behind: int | None, again: bool) -> None:
    body = json.dumps({"message": "m", "originalStatusCode": behind}).encode()
    assert BEDROCK.parse_error(424, {"x-amzn-errortype": "ModelErrorException"}, body).retryable is again


def test_ollama_says_where_to_sign_in() -> None:
    body = json.dumps({"error": "unauthorized", "signin_url": "https://ollama.com/connect"}).encode()
    error = OLLAMA.parse_error(401, {}, body)
    assert error.message == "unauthorized (sign in at https://ollama.com/connect)"
    assert (error.kind, error.retryable) == ("unauthorized", False)


def test_a_page_in_place_of_an_error_is_quoted() -> None:
    error = OLLAMA.parse_error(502, {}, b"<html>\n<h1>Bad Gateway</h1>" + b"x" * 5000)
    assert error.message.startswith("<html> <h1>Bad Gateway</h1>") and len(error.message) < 250


def test_an_error_without_a_body_names_its_status() -> None:
    assert openai(500).message == "m"
    assert OPENAI.parse_error(500, {}, b"").message == "HTTP status 500 without a message"
