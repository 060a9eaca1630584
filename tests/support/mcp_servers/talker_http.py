"""``talker.py`` of the old era over Streamable HTTP: ``python talker_http.py old MOOD PORT``.

Whatever it says and asks in a call comes in that call's own stream.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import talker

BOUND_S = 30
streams: dict[Any, tuple[Any, threading.Event]] = {}
current = threading.local()


def send(message: dict[str, Any]) -> None:
    """Write ``message`` into the stream of the request that it answers, or that is being handled."""
    request_id = current.request_id if "method" in message else message["id"]
    stream, answered = streams[request_id]
    stream.write(f"event: message\ndata: {json.dumps({'jsonrpc': '2.0', **message})}\n\n".encode())
    stream.flush()
    if "method" not in message:
        answered.set()


class Handler(BaseHTTPRequestHandler):
    """One message a POST; there is no stream of the server's own."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        request_id = message.get("id") if "method" in message else None
        current.request_id = request_id
        if request_id is None:
            current.request_id = talker.waiting[message["id"]][0] if "id" in message else None
            talker.handle(message)
            self.send_response(202)
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        streams[request_id] = (self.wfile, threading.Event())
        talker.handle(message)
        streams[request_id][1].wait(BOUND_S)

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


if __name__ == "__main__":
    talker.send = send
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Handler)
    server.daemon_threads = True
    server.serve_forever()
