"""A page and a search engine on loopback, for the tools of a workspace that read the web."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

FOUND = {"results": [{"title": "Tides", "url": "https://example.com/tides", "content": "High at noon."}]}


@contextmanager
def web() -> Iterator[str]:
    """A page and a search engine on loopback; their address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            searched = self.path.startswith("/search")
            self.send_response(200)
            self.send_header("Content-Type", "application/json" if searched else "text/html")
            self.end_headers()
            self.wfile.write(json.dumps(FOUND).encode() if searched else b"<h1>Tide</h1><p>It is high.</p>")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
