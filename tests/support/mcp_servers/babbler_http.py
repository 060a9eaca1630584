"""The same nonsense over Streamable HTTP, as JSON or as events: ``python babbler_http.py SEED PORT``."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from babbler import Babbler

BABBLER = Babbler(int(sys.argv[1]))
TYPES = ["application/json"] * 4 + ["text/event-stream"] * 4 + ["text/html", "", "application/octet-stream"]
STATUSES = [200] * 12 + [202, 204, 301, 400, 401, 404, 500, 503, 299]


class Answers(BaseHTTPRequestHandler):
    """Answers each request somehow."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = BABBLER.heard(self.rfile.read(int(self.headers["content-length"])))
        kind = BABBLER.random.choice(TYPES)
        right = BABBLER.random.random() < 0.5
        kind = "application/json" if right else kind
        if kind == "text/event-stream":
            body = b"".join(b"data: " + line + b"\n\n" for line in body.split(b"\n") if line)
        self.send_response(200 if right else BABBLER.random.choice(STATUSES))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) + (not right and BABBLER.random.random() < 0.1)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(BABBLER.random.choice([404, 405, 500]))

    do_DELETE = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Answers)
    server.daemon_threads = True
    server.serve_forever()
