"""``faulty.py`` over HTTP: ``python faulty_http.py LOG PORT``, by Streamable HTTP at ``/mcp`` and by HTTP+SSE
at ``/sse``.

The faults of ``faulty.py`` that are about messages come as events; those of ``TRANSPORT_FAULTS`` are of HTTP.
"""

from __future__ import annotations

import gzip
import json
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).parent))
import faulty

OF_PROCESSES = {
    "dies",
    "killed",
    "dies mid answer",
    "half an answer",
    "closes stdout",
    "stops reading",
    "endless line",
    "drips",
}
"""Faults of ``faulty.py`` that only a process on pipes has."""

UNANSWERED = {"hangs", "wrong id", "no id", "object as id", "garbage only"}
"""Those with which the stream of the call stays open, and has no answer."""

MESSAGE_FAULTS = [fault for fault in faulty.FAULTS if fault not in OF_PROCESSES]
BOUND_S = 60
current = threading.local()
over = threading.Event()
"""Never set: a thread that waits for it hangs until the process ends."""


class Handler(BaseHTTPRequestHandler):
    """One session; every answer ends its connection."""

    protocol_version = "HTTP/1.1"
    session = 1
    stream: ClassVar[Any] = None
    """The one stream of events of HTTP+SSE, and what it is written with."""
    waiting: ClassVar[list[threading.Event]] = []
    waiting_ids: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        current.handler = self
        if "id" not in message or "method" not in message:
            self.reply(202)
        elif self.path.startswith("/messages"):
            self.posted(message)
        elif message["method"] != "initialize" and self.headers["mcp-session-id"] != str(Handler.session):
            self.reply(404)
        elif message["method"] == "tools/call":
            self.call(message)
        else:
            self.begin("text/event-stream")
            faulty.handle(message)

    def posted(self, message: dict[str, Any]) -> None:
        """Take a message of HTTP+SSE, whose answer is an event of the other connection."""
        if message["method"] == "tools/call":
            self.call(message)
        else:
            self.reply(202)
            faulty.handle(message)

    def call(self, message: dict[str, Any]) -> None:
        arguments, request_id = message["params"]["arguments"], message["id"]
        fault = arguments.get("fault")
        if fault in TRANSPORT_FAULTS:
            faulty.note(arguments)
            with suppress(OSError):
                TRANSPORT_FAULTS[fault](self, request_id)
        else:
            self.reply(202) if self.legacy else self.begin("text/event-stream")
            faulty.handle(message)
        if fault == "waits":
            released = threading.Event()
            Handler.waiting.append(released)
            Handler.waiting_ids.append(request_id)
            released.wait(BOUND_S)
            faulty.answer(request_id, "waited")
            return
        for each in Handler.waiting:
            each.set()
        if fault in UNANSWERED:
            over.wait()

    @property
    def legacy(self) -> bool:
        return self.path.startswith("/messages")

    def do_GET(self) -> None:
        if self.path != "/sse":
            self.reply(405)
            return
        self.begin("text/event-stream")
        Handler.stream, self.ended = self, threading.Event()
        self.raw(b"event: endpoint\ndata: /messages?session=1\n\n")
        self.ended.wait()

    def do_DELETE(self) -> None:
        self.reply(200)

    def begin(self, kind: str, status: int = 200, **headers: str) -> None:
        """Begin an answer that lasts until its connection ends."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Connection": "close", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Mcp-Session-Id", str(Handler.session))
        self.end_headers()

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        """A whole answer."""
        self.begin("application/json", status, Content_Length=str(len(body)), **headers)
        self.raw(body)

    def raw(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()

    def drop(self) -> None:
        """End the connection on which answers come, as it is."""
        stream = Handler.stream if self.legacy else self
        stream.close_connection = True
        with suppress(OSError):
            stream.connection.shutdown(2)
        if self.legacy:
            stream.ended.set()

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


def write(data: bytes) -> None:
    """Each line as an event."""
    handler = current.handler
    stream = Handler.stream if handler.legacy else handler
    for line in data.splitlines():
        with suppress(OSError):
            stream.raw(b"event: message\ndata: " + line + b"\n\n")


def answer_as_json(handler: Handler, request_id: Any, text: str, **headers: str) -> None:
    handler.reply(200, faulty.line(request_id, text), **headers)


def dropped_mid_event(handler: Handler, request_id: Any) -> None:
    if handler.legacy:
        handler.reply(202)
    else:
        handler.begin("text/event-stream")
    whole = b"event: message\ndata: " + faulty.line(request_id, "half")
    (Handler.stream if handler.legacy else handler).raw(whole[: len(whole) // 2])
    handler.drop()


def dropped_mid_body(handler: Handler, request_id: Any) -> None:
    handler.begin("application/json", Content_Length="9999")
    handler.raw(faulty.line(request_id, "half")[:20])
    handler.drop()


def session_lost(handler: Handler, _id: Any) -> None:
    Handler.session += 1
    handler.reply(404)


def endless(kind: str, start: bytes, piece: bytes) -> Callable[[Handler, Any], None]:
    def answer(handler: Handler, _id: Any) -> None:
        stream = Handler.stream if handler.legacy else handler
        if handler.legacy:
            handler.reply(202)
        else:
            handler.begin(kind)
        stream.raw(start)
        while True:
            stream.raw(piece * 4_096)

    return answer


def silent(_handler: Handler, _id: Any) -> None:
    over.wait()


def silent_stream(handler: Handler, _id: Any) -> None:
    handler.begin("text/event-stream")
    over.wait()


def dripping(handler: Handler, request_id: Any) -> None:
    body = faulty.line(request_id, "drop by drop")
    handler.begin("application/json", Content_Length=str(len(body)))
    for byte in body:
        handler.raw(bytes([byte]))


def squeezed(handler: Handler, request_id: Any) -> None:
    body = gzip.compress(faulty.line(request_id, "squeezed"))
    handler.reply(200, body, Content_Encoding="gzip")


def anothers_id(handler: Handler, request_id: Any) -> None:
    """The answer to a call that waits, or to the one before, in the stream of this one, which stays open."""
    handler.begin("text/event-stream")
    faulty.answer((*Handler.waiting_ids, request_id - 1)[0], "stolen")
    for each in Handler.waiting:
        each.set()
    over.wait()


JSON_LIES: dict[str, Callable[[Handler, Any], None]] = {
    "JSON with another's id": lambda handler, request_id: answer_as_json(handler, request_id - 1, "stolen"),
    "JSON that answers nothing": lambda handler, _: handler.reply(200, b'{"jsonrpc": "2.0", "method": "x"}'),
    "no JSON": lambda handler, _: handler.reply(200, b"<html>\x1b[2J"),
    "empty": lambda handler, _: handler.reply(200),
    "endless body": endless("application/json", b'{"jsonrpc": "', b"x"),
}
"""Bodies of JSON that are no answer to the call."""

TRANSPORT_FAULTS: dict[str, Callable[[Handler, Any], None]] = {
    "drops": lambda handler, _: handler.connection.shutdown(2),
    "drops mid event": dropped_mid_event,
    "drops mid body": dropped_mid_body,
    "500": lambda handler, _: handler.reply(500, b"\x1b[31mthe cellar is flooded"),
    "503 for long": lambda handler, _: handler.reply(503, Retry_After="99999"),
    "session lost": session_lost,
    "401": lambda handler, _: handler.reply(401),
    "redirects": lambda handler, _: handler.reply(302, Location="http://192.0.2.1/"),
    "wrong type": lambda handler, _: handler.begin("text/html"),
    "accepted only": lambda handler, _: handler.reply(202),
    "hangs before its answer": silent,
    "hangs in its stream": silent_stream,
    "drips": dripping,
    "compressed": squeezed,
    "as JSON": lambda handler, request_id: answer_as_json(handler, request_id, "as JSON"),
    "another's id": anothers_id,
    **JSON_LIES,
    "endless event": endless("text/event-stream", b"data: ", b"x"),
    "endless comments": endless("text/event-stream", b"", b":\n"),
}
OF_BOTH = ("drops", "drops mid event", "500", "accepted only", "endless event", "endless comments")
"""Those that HTTP+SSE can have, too."""


if __name__ == "__main__":
    faulty.LOG = Path(sys.argv[1])
    faulty.write = write
    faulty.FAULTS["waits"] = lambda _: None
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
    server.daemon_threads = True
    server.serve_forever()
