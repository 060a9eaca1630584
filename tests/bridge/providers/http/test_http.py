"""The HTTP client: retries, deadlines, caps, and errors that name the address and no key."""

from __future__ import annotations

import logging
import socket
from collections.abc import Mapping
from contextlib import aclosing

import anyio
import httpx2
import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.provider_settings import instant
from toolspan_bridge.errors import (
    BridgeError,
    ProviderError,
    UnreachableError,
    UsageError,
)
from toolspan_bridge.formats import get_format
from toolspan_bridge.providers.http.client import HttpClient, HttpResponse
from toolspan_bridge.providers.http.settings import HttpSettings

pytestmark = pytest.mark.anyio

KEY = "sk-very-secret"


async def key_header(url: str, body: bytes) -> Mapping[str, str]:
    return {"authorization": f"Bearer {KEY}"}


read_error = get_format("openai").parse_error


async def post(base: str, settings: HttpSettings) -> HttpResponse:
    async with aclosing(HttpClient("acme", base, settings, "check ACME_BASE_URL")) as client:
        return await client.post(f"{base}/ask", b"{}", key_header, read_error)


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.requirement("I2.6.2")
@pytest.mark.parametrize("status", [408, 409, 429, 500, 529])
async def test_a_passing_trouble_is_retried_twice_with_growing_waits(status: int) -> None:
    waits: list[float] = []
    with FakeProvider(anything, [Sent(status=status), Sent(status=status), Sent({"ok": True})]) as fake:
        answer = await post(fake.url, instant(waits))
    assert (answer.status, answer.attempts, waits) == (200, 3, [0.5, 1.0])


async def test_after_two_retries_the_last_answer_stands() -> None:
    with FakeProvider(anything, [Sent(status=503)] * 3) as fake:
        answer = await post(fake.url, instant())
    assert (answer.status, answer.attempts) == (503, 3)


async def test_a_lost_connection_is_retried() -> None:
    with FakeProvider(anything, [Sent(hang_up=True), Sent({"ok": True})]) as fake:
        assert (await post(fake.url, instant())).attempts == 2


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry-After": "12"}, 12.0),
        ({"Retry-After-Ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Date": "Sat, 21 Nov 2026 12:00:00 GMT", "Retry-After": "Sat, 21 Nov 2026 12:00:20 GMT"}, 20.0),
        ({"Retry-After": "Sat, 21 Nov 2020 12:00:00 GMT"}, 0.5),
        ({"Retry-After": "-3"}, 0.5),
        ({"Retry-After": "soon"}, 0.5),
        ({"Retry-After": "nan"}, 0.5),
    ],
)
async def test_the_wait_that_a_provider_asks_for_is_obeyed_when_it_is_one(
    headers: dict[str, str], waited: float
) -> None:
    waits: list[float] = []
    with FakeProvider(anything, [Sent(status=429, headers=headers), Sent({"ok": True})]) as fake:
        await post(fake.url, instant(waits))
    assert waits == [waited]


@pytest.mark.parametrize(
    ("status", "headers", "attempts"),
    [(400, {}, 1), (404, {}, 1), (503, {"x-should-retry": "false"}, 1), (400, {"x-should-retry": "true"}, 3)],
)
async def test_other_errors_are_final_and_the_provider_has_the_last_word(
    status: int, headers: dict[str, str], attempts: int
) -> None:
    with FakeProvider(anything, [Sent(status=status, headers=headers)] * attempts) as fake:
        assert (await post(fake.url, instant())).attempts == attempts


async def test_a_spent_quota_is_not_retried_although_it_is_429() -> None:
    body = {"error": {"message": "pay first", "type": "insufficient_quota"}}
    with FakeProvider(anything, [Sent(body, status=429)]) as fake:
        assert (await post(fake.url, instant())).attempts == 1


@pytest.mark.requirement("I11.2.6")
@pytest.mark.parametrize(("total", "callers"), [(30.0, None), (900.0, 30.0)])
async def test_a_wait_for_which_there_is_no_time_ends_the_attempts_and_is_reported(
    total: float, callers: float | None
) -> None:
    waits: list[float] = []
    with FakeProvider(anything, [Sent(status=429, headers={"Retry-After": "31"})]) as fake:
        with anyio.fail_after(callers):
            answer = await post(fake.url, instant(waits, total=total))
    assert (answer.attempts, answer.asked, waits) == (1, 31.0, [])


@pytest.mark.requirement("I11.2.6")
async def test_a_long_wait_is_waited_while_there_is_time_and_never_in_silence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    waits: list[float] = []
    busy = Sent(status=429, headers={"Retry-After": "121"})
    with FakeProvider(anything, [busy, Sent({"ok": True})]) as fake:
        answer = await post(fake.url, instant(waits, total=900.0))
    assert (answer.attempts, waits) == (2, [121.0])
    assert "acme: answered 429; attempt 2 in 121.0 s" in caplog.text


async def test_each_retry_is_logged_without_the_key(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.DEBUG, "toolspan.providers"),
        FakeProvider(anything, [Sent(status=500), Sent({"ok": True})]) as fake,
    ):
        await post(fake.url, instant())
    assert "acme: answered 500; attempt 2 in 0.5 s" in caplog.text
    assert KEY not in caplog.text


async def test_a_refused_connection_names_the_address_and_what_to_check() -> None:
    base = f"http://127.0.0.1:{closed_port()}"
    with pytest.raises(UnreachableError) as caught:
        await post(base, instant())
    assert base in caught.value.message
    assert "check ACME_BASE_URL" in caught.value.message
    assert KEY not in caught.value.message


async def test_a_silent_server_runs_into_the_read_limit_and_is_not_asked_again() -> None:
    with FakeProvider(anything, [Sent(stall=True)]) as fake:
        with pytest.raises(UnreachableError, match=r"no answer within 0\.1 s"):
            await post(fake.url, instant(read=0.1))
        assert len(fake.received) == 1


async def test_all_attempts_together_have_one_deadline() -> None:
    with (
        FakeProvider(anything, [Sent(stall=True)]) as fake,
        pytest.raises(UnreachableError, match=r"no answer within 0\.2 s"),
    ):
        await post(fake.url, instant(total=0.2))


async def test_an_answer_without_end_is_dropped_at_the_cap() -> None:
    with (
        FakeProvider(anything, [Sent(b"x" * 5000)]) as fake,
        pytest.raises(ProviderError, match="more than 1,000 bytes"),
    ):
        await post(fake.url, instant(max_bytes=1000))


async def test_one_connection_serves_many_requests() -> None:
    with FakeProvider(anything, [Sent({})] * 3) as fake:
        async with aclosing(HttpClient("acme", fake.url, instant(), "")) as client:
            for _ in range(3):
                await client.post(f"{fake.url}/ask", b"{}", key_header, read_error)
        assert fake.connections == 1


async def test_a_proxy_of_the_environment_is_used_but_never_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with (
        FakeProvider(anything, [Sent({"by": "proxy"})]) as proxy,
        FakeProvider(anything, [Sent({})]) as fake,
    ):
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        await post(fake.url, instant())
        answer = await post("http://models.example.test", instant())
    assert b"proxy" in answer.content
    assert proxy.received[0].target == "http://models.example.test/ask"


async def test_a_certificate_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/authority.pem")
    with pytest.raises(UsageError, match="SSL_CERT_FILE"):
        HttpClient("acme", "https://models.example.test", instant(), "")


def _all_kinds(kind: type[httpx2.HTTPError]) -> list[type[httpx2.HTTPError]]:
    return [kind, *(found for each in kind.__subclasses__() for found in _all_kinds(each))]


@pytest.mark.parametrize("kind", _all_kinds(httpx2.TransportError), ids=lambda kind: kind.__name__)
async def test_every_error_of_the_http_library_becomes_one_of_ours(kind: type[httpx2.TransportError]) -> None:
    async with aclosing(HttpClient("acme", "http://127.0.0.1:9", instant(), "check it")) as client:
        failure = client.failure(kind("Illegal header value b'secret'"))
    assert isinstance(failure, BridgeError)
    assert failure.exit_code in (1, 4)
    assert "acme" in failure.message
    assert "http://127.0.0.1:9" in failure.message
    if not issubclass(kind, (httpx2.ConnectError, httpx2.ProxyError)):
        assert "secret" not in failure.message


@pytest.mark.requirement("I24.3.3")
async def test_a_cookie_that_comes_with_one_answer_goes_with_no_other_request() -> None:
    cookies = {"Set-Cookie": "who=ann; Path=/"}
    with FakeProvider(anything, [Sent({"ok": True}, headers=cookies)] * 2) as fake:
        async with aclosing(HttpClient("acme", fake.url, instant(), "check ACME_BASE_URL")) as client:
            for _ in range(2):
                await client.post(f"{fake.url}/ask", b"{}", key_header, read_error)
    assert [request.headers.get("cookie") for request in fake.received] == [None, None]
