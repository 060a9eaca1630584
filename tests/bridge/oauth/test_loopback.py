"""Where a browser comes back to: nothing but the answer to what was asked ends the wait for it."""

from __future__ import annotations

from urllib.parse import urlsplit

import anyio
import pytest

from toolspan_bridge.errors import AuthError
from toolspan_bridge.oauth._loopback import Loopback, listening

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I24.6.6")]

OTHERS = [
    "GET /callback?code=c&state=guessed HTTP/1.1",
    "GET /callback?code=c HTTP/1.1",
    "GET /callback HTTP/1.1",
    "GET /callback?code=c&state=%C3%A9 HTTP/1.1",
    "GET /callback?code=c&state={state}&state=guessed HTTP/1.1",
    "GET /callback?error=access_denied HTTP/1.1",
    "GET /callback?code=c&state={state}&" + "a=b&" * 60 + "z=1 HTTP/1.1",
    "HEAD /callback?code=c&state={state} HTTP/1.1",
    "POST /callback?code=c&state={state} HTTP/1.1",
    "GET /favicon.ico HTTP/1.1",
    "GET /callback/?code=c&state={state} HTTP/1.1",
    "GET http://[::1/callback HTTP/1.1",
    "\x16\x03\x01 no HTTP at all",
    "GET /" + "a" * 20_000,
]


async def asked(loopback: Loopback, line: str) -> str:
    """The status line of the answer to a request of ``line``."""
    port = urlsplit(loopback.redirect_uri).port
    assert port is not None
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(f"{line.format(state=loopback.state)}\r\nHost: a\r\n\r\n".encode("latin-1"))
        return (await stream.receive()).decode().partition("\r\n")[0]


async def test_requests_of_others_are_refused_and_the_sign_in_goes_on() -> None:
    async with listening(None) as loopback:
        for line in OTHERS:
            assert (await asked(loopback, line)).split()[1] in ("400", "404"), line
        assert (await asked(loopback, "GET /callback?code=ours&state={state} HTTP/1.1")).endswith("200 OK")
        assert (await loopback.answer(5))["code"] == "ours"


async def test_a_wait_for_nobody_ends_and_says_what_was_refused() -> None:
    async with listening(None) as loopback:
        await asked(loopback, OTHERS[0])
        with pytest.raises(AuthError, match="1 requests with a wrong state were refused"):
            await loopback.answer(0.05)
