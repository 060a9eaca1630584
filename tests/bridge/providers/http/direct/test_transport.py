"""Connections to a provider's server, beside a server that writes any bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import httpx2
import pytest

from toolspan_bridge.providers.http.direct import DirectTransport

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I14.6.20")]

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    """Answers each request by ``answers``, one after another, and then by ``ok``; counts what comes."""

    answers: list[bytes | Answer] = field(default_factory=list[bytes | Answer])
    connections: int = 0
    requests: int = 0
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                self.requests += 1
                answer = self.answers.pop(0) if self.answers else OK
                if isinstance(answer, bytes):
                    writer.write(answer)
                else:
                    await answer(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def served(
    *answers: bytes | Answer, most: int = 8, idle: float = 30.0
) -> AsyncGenerator[tuple[Server, httpx2.AsyncClient]]:
    server = Server(list(answers))
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
    timeout = httpx2.Timeout(30.0)
    async with httpx2.AsyncClient(
        transport=DirectTransport(None, most, most, idle), timeout=timeout
    ) as client:
        yield server, client
    listening.close()


async def silent(writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def close(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\nto the end")
    writer.close()


async def test_many_requests_use_as_many_connections_as_run_at_once() -> None:
    async with served() as (server, client):

        async def ask() -> None:
            for _ in range(10):
                assert (await client.post(server.url, content=b"")).text == "ok"

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(ask)
        assert (server.requests, server.connections) == (40, 4)


async def test_a_request_waits_for_a_place_as_long_as_it_may_and_gets_it_when_another_ends() -> None:
    async with served(silent, most=1) as (server, client):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.get, server.url)
            while not server.requests:
                await anyio.lowlevel.checkpoint()
            with pytest.raises(httpx2.PoolTimeout):
                await client.get(server.url, timeout=httpx2.Timeout(30.0, pool=0.01))
            tasks.cancel_scope.cancel()
        assert (await client.get(server.url)).text == "ok"
        assert server.connections == 2


async def test_an_answer_that_does_not_come_in_time_is_an_error_of_its_request_alone() -> None:
    async with served(silent) as (server, client):
        with pytest.raises(httpx2.ReadTimeout):
            await client.get(server.url, timeout=0.01)
        assert (await client.get(server.url)).text == "ok"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (close, "to the end"),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\none", "one"),
        (b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 3\r\n\r\ntwo", "two"),
    ],
)
async def test_a_connection_that_the_server_ends_is_not_used_again(answer: bytes | Answer, text: str) -> None:
    async with served(answer) as (server, client):
        assert [(await client.get(server.url)).text for _ in range(2)] == [text, "ok"]
        assert server.connections == 2


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n" + OK, "ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", ""),
        (
            CHUNKED + b"3\r\none\r\n3;x=y\r\ntwo\r\n0\r\nafter: 1\r\n\r\n",
            "onetwo",
        ),
    ],
)
async def test_a_whole_answer_leaves_its_connection_open(answer: bytes, text: str) -> None:
    async with served(answer) as (server, client):
        found = await client.get(server.url)
        assert found.text == text and "link" not in found.headers and "after" not in found.headers
        assert (await client.get(server.url)).text == "ok"
        assert server.connections == 1


async def test_a_connection_that_was_idle_for_too_long_is_closed() -> None:
    async with served(idle=0.0) as (server, client):
        for _ in range(2):
            assert (await client.get(server.url)).text == "ok"
        assert server.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", id="another protocol"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok", id="two lengths"
        ),
        pytest.param(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno size\r\n", id="no chunk"),
        pytest.param(b"HTTP/1.1 200 OK\r\nx: " + b"y" * 1_000_000, id="an endless header"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: " + b"y" * 1_000_000,
            id="an endless trailer",
        ),
        pytest.param(
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", id="an upgrade"
        ),
    ],
)
async def test_what_is_no_answer_is_an_error(answer: bytes) -> None:
    async with served(answer) as (server, client):
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.get(server.url)
        assert (await client.get(server.url)).text == "ok"


async def test_a_cut_answer_gives_what_came_and_then_the_error() -> None:
    async def cut(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf")
        writer.close()

    async with served(cut) as (server, client):
        came: list[bytes] = []
        with pytest.raises(httpx2.RemoteProtocolError):
            async with client.stream("GET", server.url) as answer:
                async for chunk in answer.aiter_bytes():
                    came.append(chunk)
        assert b"".join(came) == b"half"


async def test_bytes_that_nobody_asked_for_are_no_answer_to_the_next_request() -> None:
    async with served(OK + OK.replace(b"ok", b"no")) as (server, client):
        assert [(await client.get(server.url)).text for _ in range(2)] == ["ok", "ok"]
        assert server.connections == 2


@pytest.mark.parametrize("value", ["a\r\nx: 1", "a\nb", "a\0b"])
async def test_a_header_with_the_end_of_a_line_is_not_sent(value: str) -> None:
    async with served() as (server, client):
        with pytest.raises(httpx2.LocalProtocolError):
            await client.get(server.url, headers={"x-key": value})
        assert server.requests == 0


async def test_a_server_waits_while_its_answer_is_not_read() -> None:
    size, sent = 64 * 1024 * 1024, 0

    async def much(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % size)
        while sent < size:
            writer.write(bytes(65_536))
            sent += 65_536
            await writer.drain()

    async with served(much) as (server, client), client.stream("GET", server.url) as answer:
        for _ in range(2_000):
            await anyio.lowlevel.checkpoint()
        assert sent < size
        received = [len(chunk) async for chunk in answer.aiter_raw()]
        assert sum(received) == size and max(received) <= 65_536


async def test_a_request_that_is_cancelled_gives_its_place_back() -> None:
    async with served(silent, most=1) as (server, client):
        with anyio.move_on_after(0.01):
            await client.get(server.url)
        assert (await client.get(server.url)).text == "ok"
