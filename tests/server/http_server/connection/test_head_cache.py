"""A request is answered alike whether its head was read before on the connection or not."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typing_extensions import override

from tests.support.raw_http import chunked, request
from toolspan_server.config import LimitsConfig
from toolspan_server.http_server.asgi import Receive, Scope, Send
from toolspan_server.http_server.connection.head_cache import HeadCache
from toolspan_server.http_server.connection.protocol import Connection
from toolspan_server.http_server.connection.request_cycle import CYCLE
from toolspan_server.http_server.connection.settings import Settings
from toolspan_server.http_server.web_server import web_server

pytestmark = pytest.mark.requirement("I9.4.1")

LIMITS = LimitsConfig(header_bytes=4_096, message_bytes=100_000)
BODY = b'{"a": 1}'
ASKED = request("POST", "/mcp?x=%20", ("content-type", "application/json"), ("x-of", "a"), body=BODY)
TURNS = 4


class Wire(asyncio.Transport):
    """A client's end of a connection: what came out, and whether it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = b""
        self.ended = ""

    @override
    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": ("127.0.0.1", 5), "sockname": ("127.0.0.1", 80)}.get(name, default)

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.taken += data

    @override
    def get_write_buffer_size(self) -> int:
        return 0

    @override
    def is_closing(self) -> bool:
        return bool(self.ended)

    @override
    def close(self) -> None:
        self.ended = self.ended or "closed"

    @override
    def abort(self) -> None:
        self.ended = self.ended or "aborted"

    @override
    def write_eof(self) -> None:
        self.ended = self.ended or "parted"

    @override
    def pause_reading(self) -> None:
        """There is always room."""

    @override
    def resume_reading(self) -> None:
        """There is always room."""


gone: list[str] = []


async def told(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with all that an app is told; the path says whether it waits first."""
    cycle = scope.pop(CYCLE)
    part: dict[str, Any] = {"more_body": True, "body": b""}
    body = b""
    while part.get("more_body", False):
        part = dict(await receive())
        body += part["body"]
    if "wait" in scope["path"]:
        await asyncio.sleep(0)
    if "leave" in scope["path"] and cycle.head is not None:
        gone.append((await receive())["type"])
    seen = {key: value for key, value in scope.items() if key not in ("state", "asgi")}
    text = json.dumps({"body": body.decode("latin-1"), "scope": seen}, default=_latin).encode()
    if "known" in scope["path"]:
        text = b"known" if cycle.head is not None else b"new"
    if "whole" not in scope["path"] or not cycle.whole(text):
        length = (b"content-length", b"%d" % len(text))
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": text})


def _latin(value: bytes) -> str:
    return value.decode("latin-1")


class Forgetful(HeadCache):
    """Knows no head: every request is the parser's."""

    @override
    def read(self, data: bytes) -> None:
        return None


def answers(*chunks: bytes, heads: type[HeadCache] = HeadCache) -> tuple[bytes, str]:
    """What comes out of one connection when ``chunks`` come in, each once the one before was answered."""

    async def run() -> tuple[bytes, str]:
        loop = asyncio.get_running_loop()
        web = web_server(told, LIMITS)
        config: Any = web.config
        assert isinstance(config, Settings)
        config.load()
        wire = Wire()
        connection = Connection(config, web.server_state, {}, loop)
        connection._heads = heads(LIMITS)  # pyright: ignore[reportPrivateUsage]
        connection.connection_made(wire)
        for chunk in chunks:
            loop.call_soon(connection.data_received, chunk)
            for _ in range(TURNS):
                await asyncio.sleep(0)
        taken, ended = wire.taken, wire.ended
        if not ended:
            connection.connection_lost(None)
            for _ in range(TURNS):
                await asyncio.sleep(0)
        return taken, ended

    return anyio.run(run)


def assert_alike(*chunks: bytes) -> None:
    """Assert that what was read before makes no difference to what is answered."""
    assert answers(*chunks) == answers(*chunks, heads=Forgetful)


def test_a_head_that_came_before_is_known_whatever_the_length() -> None:
    def asked(body: bytes) -> bytes:
        return request("POST", "/known", ("x", "y"), body=body)

    out, _ = answers(asked(b"1"), asked(b"2"), asked(b"333" * 100), asked(b""))
    assert out.count(b"new") == 1 and out.count(b"known") == 3


@pytest.mark.parametrize("path", ["/a", "/wait", "/whole", "/wait/whole", "/%C3%A4?b=%20"])
def test_an_app_is_told_of_a_known_head_what_it_is_told_of_a_new_one(path: str) -> None:
    asked = request("POST", path, ("x-a", "1"), ("x-a", "2"), ("Accept", "*/*"), body=b"{}")
    longer = request("POST", path, ("x-a", "1"), ("x-a", "2"), ("Accept", "*/*"), body=b"[1, 2, 3]")
    assert_alike(asked, asked, longer)
    assert answers(asked, asked, longer)[0].count(b"HTTP/1.1 200") == 3


OTHERS = {
    "another header": ASKED.replace(b"x-of: a", b"x-of: b"),
    "a header twice": ASKED.replace(b"x-of: a", b"x-of: a\r\nx-of: a"),
    "another path": ASKED.replace(b"/mcp", b"/mcq"),
    "another method": ASKED.replace(b"POST", b"PUT"),
    "HTTP/1.0": ASKED.replace(b"HTTP/1.1", b"HTTP/1.0"),
    "a length that is no number": ASKED.replace(b"length: 8", b"length: a"),
    "a signed length": ASKED.replace(b"length: 8", b"length: +8"),
    "a length in other digits": ASKED.replace(b"length: 8", "length: ٨".encode()),
    "a length with zeros": ASKED.replace(b"length: 8", b"length: 008"),
    "a length with spaces": ASKED.replace(b"length: 8", b"length:   8 "),
    "an empty length": ASKED.replace(b"length: 8", b"length: "),
    "two lengths": ASKED.replace(b"content-length: 8", b"content-length: 8\r\ncontent-length: 8"),
    "a length too long": ASKED.replace(b"length: 8", b"length: 99999999999999999999"),
    "a length over the limit": ASKED.replace(b"length: 8", b"length: 100001"),
    "a body over the limit": ASKED.replace(b"length: 8", b"length: 100001") + b"x" * 99_993,
    "the length in capitals": ASKED.replace(b"content-length", b"CONTENT-LENGTH"),
    "the length as the first header": ASKED.replace(b"\r\ncontent-length: 8", b"").replace(
        b"host", b"content-length: 8\r\nhost"
    ),
    "a body too short": ASKED[:-1],
    "a body and more": ASKED + b"x",
    "two requests at once": ASKED + ASKED,
    "half a request more": ASKED + ASKED[:30],
    "an empty line before": b"\r\n" + ASKED,
    "an empty line after": ASKED + b"\r\n",
    "a head alone": ASKED.removesuffix(BODY),
    "no length": ASKED.replace(b"content-length: 8\r\n", b""),
    "a coding beside the length": ASKED.replace(b"x-of", b"transfer-encoding: chunked\r\nx-of"),
    "an offer to upgrade": ASKED.replace(b"x-of", b"connection: upgrade\r\nupgrade: h2c\r\nx-of"),
    "the wish to close": ASKED.replace(b"x-of", b"connection: close\r\nx-of"),
    "an expectation": ASKED.replace(b"x-of", b"expect: 100-continue\r\nx-of"),
    "chunks": chunked(ASKED.replace(b"content-length: 8", b"transfer-encoding: chunked").removesuffix(BODY)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_differs_from_a_known_request_is_answered_as_if_that_had_not_come(name: str) -> None:
    assert_alike(ASKED, ASKED, OTHERS[name], ASKED)
    assert_alike(OTHERS[name], OTHERS[name], OTHERS[name])


@settings(max_examples=150, deadline=None)
@given(
    at=st.integers(0, len(ASKED) - 1),
    length=st.integers(0, 3),
    put=st.binary(max_size=3) | st.sampled_from([b"\r\n", b"\r\n\r\n", b": ", b"content-length: 1\r\n"]),
)
@example(at=ASKED.index(b"8\r\n"), length=1, put=b"8\r\ncontent-length: 9")
def test_no_change_of_a_known_request_is_read_as_anything_else(at: int, length: int, put: bytes) -> None:
    changed = ASKED[:at] + put + ASKED[at + length :]
    assert_alike(ASKED, ASKED, changed, ASKED)


@pytest.mark.parametrize("path", ["/leave", "/leave/whole", "/wait/leave"])
def test_an_app_that_works_on_a_known_request_is_told_when_its_client_leaves(path: str) -> None:
    gone.clear()
    asked = request("POST", path, body=b"{}")
    out, _ = answers(asked, asked)
    assert gone == ["http.disconnect"] and out.count(b"HTTP/1.1 200") == 1


def test_a_request_in_pieces_after_known_ones_is_put_together() -> None:
    first, _ = answers(ASKED)
    pieces = [ASKED[:20], ASKED[20:-3], ASKED[-3:]]
    assert answers(ASKED, ASKED, *pieces, ASKED)[0] == first * 4


def test_a_client_whose_heads_never_came_again_is_known_when_they_do() -> None:
    def asked(number: int) -> bytes:
        return request("POST", "/known", ("x", f"{number}"), body=b"")

    others = [asked(number) for number in range(100)]
    assert answers(*others, *[asked(100)] * 9)[0].count(b"known") >= 1
    assert answers(*[asked(100)] * 9)[0].count(b"known") == 8


def test_the_heads_that_are_remembered_are_few_and_short() -> None:
    def asked(number: int, fill: int = 0) -> bytes:
        return request("POST", "/known", ("x", f"{number}{'x' * fill}"), body=b"")

    many = [asked(number) for number in range(9)]
    assert b"known" not in answers(*many, many[0])[0]
    assert answers(*many, many[8])[0].count(b"known") == 1
    assert b"known" not in answers(asked(1, 3_000), asked(1, 3_000))[0]
