"""An HTTP server that answers each path in its own wrong way: ``python answers.py PORT``."""

from __future__ import annotations

import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Answers(BaseHTTPRequestHandler):
    """``/401``, ``/404``, ``/html``, ``/silent``, ``/endless``, ``/gzip``, ``/elsewhere``."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.answer(self.path.strip("/"))

    def do_GET(self) -> None:
        self.answer(self.path.strip("/"))

    def answer(self, what: str) -> None:
        if what == "silent":
            time.sleep(30)
        elif what.isdigit():
            self.send(int(what), "text/plain", b"no")
        elif what == "html":
            self.send(200, "text/html", b"<h1>Welcome</h1>")
        elif what == "gzip":
            self.send(200, "application/json", b"\x1f\x8b", "gzip")
        elif what == "elsewhere":
            self.send_response(307)
            self.send_header("Location", "http://169.254.169.254/latest")
            self.end_headers()
        else:
            self.send(200, "application/json", b"x" * 6_000_000)

    def send(self, status: int, content_type: str, body: bytes, encoding: str = "identity") -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Encoding", encoding)
        self.end_headers()
        try:
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answers)
    server.daemon_threads = True
    server.serve_forever()
