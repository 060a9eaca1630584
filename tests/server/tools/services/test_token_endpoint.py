"""What a token endpoint may answer: a bearer token for some time, in time, and nothing else is taken."""

from __future__ import annotations

import gzip
import json
import math
from contextlib import nullcontext, suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx2
import pytest

from tests.support.answering import answering
from toolspan_server.engines.upstreams import paused_by
from toolspan_server.schema.token_exchange import TokenExchangeConfig
from toolspan_server.tools.services._token_exchange import TokenEndpoint

pytestmark = [pytest.mark.anyio]


def endpoint(url: str, seconds: float = 10.0) -> TokenEndpoint:
    return TokenEndpoint("bank", TokenExchangeConfig(token_url=url, client_id="hub"), seconds)


async def answer_to(status: int, body: bytes, **headers: str) -> tuple[str, float]:
    """What is made of the answer."""

    def given(_request: BaseHTTPRequestHandler, _body: bytes) -> tuple[int, dict[str, str], bytes]:
        return status, {name.replace("_", "-"): value for name, value in headers.items()}, body

    with answering(given) as url:
        return await endpoint(url).exchanged("subject")


def told(**members: Any) -> bytes:
    return json.dumps({"access_token": "theirs", **members}).encode()


@pytest.mark.requirement("I15.4.40")
@pytest.mark.parametrize(
    ("status", "body", "headers", "why"),
    [
        (200, told(access_token=""), {}, "no access_token"),
        (200, told(access_token="two words"), {}, "no access_token"),
        (200, told(access_token="a\r\nx: y"), {}, "no access_token"),
        (200, told(access_token=7), {}, "no access_token"),
        (200, b"[]", {}, "no access_token"),
        (200, b"\xff\xfe", {}, "no access_token"),
        (200, b"[" * 60_000, {}, "no access_token"),
        (200, gzip.compress(b" " * 50_000_000 + told()), {"content_encoding": "gzip"}, "no access_token"),
        (200, told(padding="x" * 70_000), {}, "longer than 65,536 bytes"),
        (200, told(token_type="DPoP"), {}, "no bearer token"),
        (200, told(access_token="subject"), {}, "never passed on"),
        (302, b"", {"location": "http://127.0.0.1:9/"}, "HTTP 302"),
        (400, b'{"error": "invalid_target"}', {}, "HTTP 400, 'invalid_target'"),
        (400, json.dumps({"error": "x\nWARNING forged"}).encode(), {}, r"'x\nWARNING forged'"),
    ],
)
async def test_an_answer_that_gives_no_token_to_send_is_refused_with_the_reason(
    status: int, body: bytes, headers: dict[str, str], why: str
) -> None:
    with pytest.raises(httpx2.ConnectError) as refused:
        await answer_to(status, body, **headers)
    assert why in str(refused.value)


@pytest.mark.requirement("I15.4.40")
@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        (60, 60.0),
        (-5, 0.0),
        (math.nan, 300.0),
        (math.inf, 86_400.0),
        (10**400, 86_400.0),
        ("soon", 300.0),
        (True, 300.0),
        (None, 300.0),
    ],
)
async def test_a_token_holds_as_long_as_it_is_said_to_within_a_day(said: Any, seconds: float) -> None:
    assert await answer_to(200, told(expires_in=said, token_type="bearer")) == ("theirs", seconds)


@pytest.mark.requirement("I15.4.40")
async def test_an_endpoint_that_goes_on_and_on_is_waited_for_no_longer_than_its_time() -> None:
    def drips(request: BaseHTTPRequestHandler, _body: bytes) -> tuple[int, dict[str, str], bytes]:
        request.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        with suppress(OSError):  # until nobody reads it any more
            while True:
                request.wfile.write(b" ")
        return 200, {}, b""

    def hangs(request: BaseHTTPRequestHandler, _body: bytes) -> tuple[int, dict[str, str], bytes]:
        request.rfile.read(1)
        return 200, {}, told()

    for answer, why in ((hangs, "no answer within 0.1 s"), (drips, "longer than")):
        with answering(answer) as url, paused_by(nullcontext) as made:
            with pytest.raises(httpx2.ConnectError, match=why):
                await endpoint(url, 0.1 if answer is hangs else 10.0).exchanged("subject")
            assert why in made.refusal
