"""A server of 2025-11-25 over HTTP+SSE, whose tool ``ask`` asks the client for a city: ``python asker.py
PORT``. All that it sends to a client goes over one stream."""

from __future__ import annotations

import itertools
import json
import queue
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
INFO = {"name": "asker", "version": "1"}
KNOWN: dict[str, Any] = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": INFO},
    "tools/list": {"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]},
}
streams: dict[str, queue.Queue[str]] = {}
numbers = itertools.count()
waiting: dict[str, tuple[Any, str]] = {}


def taken(message: dict[str, Any], stream: queue.Queue[str]) -> None:
    """Answer one message of the client of ``stream``."""

    def send(**content: Any) -> None:
        stream.put(f"event: message\ndata: {json.dumps({'jsonrpc': '2.0', **content})}\n\n")

    method, given = message.get("method"), message.get("id")
    if method == "tools/call":
        what = message["params"]["arguments"]["what"]
        waiting[number := f"q{next(numbers)}"] = (given, what)
        send(id=number, method="elicitation/create", params={"message": what, "requestedSchema": CITY})
    elif method is None:
        call, what = waiting[message["id"]]
        said = json.dumps([what, message.get("result", message.get("error"))])
        send(id=call, result={"content": [{"type": "text", "text": said}]})
    elif method in KNOWN:
        send(id=given, result=KNOWN[method])
    elif given is not None:
        send(id=given, error={"code": -32601, "message": "Method not found"})


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        number, stream = str(next(numbers)), queue.Queue[str]()
        streams[number] = stream
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        stream.put(f"event: endpoint\ndata: /messages?of={number}\n\n")
        while True:
            self.wfile.write(stream.get().encode())

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(202)
        self.send_header("content-length", "0")
        self.end_headers()
        taken(message, streams[self.path.rpartition("=")[2]])

    def log_message(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.daemon_threads = True
    server.serve_forever()
