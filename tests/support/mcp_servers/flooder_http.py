"""An MCP server over Streamable HTTP whose one tool floods: ``python flooder_http.py WHAT PORT``.

``WHAT`` is one of ``flooder.py``'s floods, sent as events of the call's answer, or ``comments``, ``large`` or
``drops``: streams that end at once and want to be asked for again at once.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

from flooder import FLOODS, tools_of

WHAT = sys.argv.pop(1)


def events() -> Iterator[bytes]:
    if WHAT == "drops":
        yield b"id: 1\nretry: 0\ndata: \n\n"
        return
    for number in count():
        if WHAT == "comments":
            yield b":\n" * 32_768
        elif WHAT == "large":
            yield b"data: " + FLOODS["large_logs"](number).strip() + b"\n\n"
        else:
            made = (FLOODS[WHAT](100 * number + each).strip() for each in range(100))
            yield b"".join(b"data: " + message + b"\n\n" for message in made)


class Flooder(BaseHTTPRequestHandler):
    """Speaks MCP until the tool is called."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if WHAT == "drops":
            self.stream()
        else:
            self.send(405)

    def do_DELETE(self) -> None:
        self.send(200)

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in message or "method" not in message:
            self.send(202)
        elif message["method"] == "tools/call":
            self.stream()
        else:
            self.send(200, {"jsonrpc": "2.0", "id": message["id"], **tools_of(message)})

    def stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for piece in events():
                self.wfile.write(piece)
        except OSError:
            self.close_connection = True

    def send(self, status: int, value: dict[str, Any] | None = None) -> None:
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Mcp-Session-Id", "one")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Flooder)
    server.daemon_threads = True
    server.serve_forever()
