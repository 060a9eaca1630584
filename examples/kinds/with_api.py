"""A shop's web API on loopback, for as long as the command in the arguments runs; its URL is $SHOP_API.

Run it: python examples/kinds/with_api.py toolspan check --run-examples --config examples/kinds/http.yaml
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from typing_extensions import override

ARTICLES: dict[str, dict[str, Any]] = {
    "1": {"id": 1, "title": "Kettle", "price": 24.5, "tags": ["kitchen"]},
    "2": {"id": 2, "title": "Teapot", "price": 18, "tags": ["kitchen", "sale"]},
}


class Shop(BaseHTTPRequestHandler):
    """``GET /articles?tag=``, ``GET /articles/{id}`` and ``POST /orders``."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/articles":
            tag = parse_qs(url.query).get("tag", [None])[0]
            found = [each for each in ARTICLES.values() if tag is None or tag in each["tags"]]
            self._answer(HTTPStatus.OK, {"articles": found})
        elif article := ARTICLES.get(url.path.removeprefix("/articles/")):
            self._answer(HTTPStatus.OK, article)
        else:
            self._answer(HTTPStatus.NOT_FOUND, {"error": "no such article"})

    def do_POST(self) -> None:
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(HTTPStatus.CREATED, {"order": 1, **order})

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is the command's."""

    def _answer(self, status: HTTPStatus, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def shop() -> Generator[str]:
    """The running API's URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def main(command: list[str]) -> int:
    """Run ``command`` beside the API; its exit code."""
    if not command:
        sys.exit(__doc__)
    with shop() as url:
        return subprocess.run(command, env={**os.environ, "SHOP_API": url}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
