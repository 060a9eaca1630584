"""What a client reads on a stream that the SDK leaves without an answer."""

from __future__ import annotations

import json
import logging
from collections.abc import MutableMapping
from typing import Any

import anyio
import pytest

from toolspan_server.protocol.http.sdk.unanswered_requests import owing, quiet_about_ends

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I3.1.1", "I9.5.2")]
START = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
ANSWER = b'data: {"jsonrpc":"2.0","id":7,"result":{}}\r\n\r\n'


async def read(over: bool, *sent: MutableMapping[str, Any]) -> tuple[bytes, bool]:
    """The body that a client gets of what the SDK ``sent``, and whether it is whole."""
    got: list[MutableMapping[str, Any]] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        for message in sent:
            await send(message)

    async def send(message: MutableMapping[str, Any]) -> None:
        got.append(message)

    await owing(app, 7, lambda: over)({}, anyio.sleep_forever, send)  # type: ignore[arg-type]
    bodies = got[1:]
    whole = bool(bodies) and not bodies[-1].get("more_body", False)
    return b"".join(each.get("body", b"") for each in bodies), whole


def body(data: bytes, more: bool = True) -> MutableMapping[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": more}


@pytest.mark.parametrize("sent", [(), (body(b"event: ping\r\n\r\n"),), (body(b"", more=False),)])
async def test_a_stream_of_a_closed_session_ends_with_the_error(sent: Any) -> None:
    said, whole = await read(True, START, *sent)
    assert whole
    error = json.loads(said[said.index(b"{") :])
    assert (error["id"], error["error"]["message"]) == (7, "The session has ended")


@pytest.mark.parametrize("over", [True, False])
async def test_a_stream_with_its_answer_is_left_as_it_is(over: bool) -> None:
    assert await read(over, START, body(ANSWER), body(b"", more=False)) == (ANSWER, True)


async def test_words_of_the_answer_in_a_notification_are_no_answer() -> None:
    progress = (
        b'data: {"method":"notifications/progress","params":{"message":"\\"result\\""},"error":1}\r\n\r\n'
    )
    said, whole = await read(True, START, body(progress), body(b"", more=False))
    assert whole and said.startswith(progress) and b"The session has ended" in said


async def test_a_stream_that_is_closed_so_that_the_client_comes_back_says_nothing_more() -> None:
    assert await read(False, START, body(b"retry: 1000\r\n\r\n"), body(b"", more=False)) == (
        b"retry: 1000\r\n\r\n",
        True,
    )


async def test_the_log_has_no_traceback_of_a_closed_stream_but_of_every_other_failure() -> None:
    quiet_about_ends()
    logger = logging.getLogger("mcp.server.streamable_http")
    closed = ExceptionGroup("tasks", [anyio.ClosedResourceError()])

    def shown(error: Exception) -> bool:
        record = logger.makeRecord(logger.name, logging.ERROR, "f", 1, "m", (), (type(error), error, None))
        return bool(logger.filter(record))

    assert not shown(closed)
    assert shown(ValueError("a bug")) and shown(ExceptionGroup("tasks", [closed, ValueError("a bug")]))
