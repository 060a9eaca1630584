"""The app between a provider and two MCP servers, one on pipes (``hostile``) and one over HTTP (``remote``),
that answer whatever a test wants, in a process of its own.

with hostile_parts(folder) as parts:
    parts.provider.answer = (999, b"{}")
    parts.tell_server({"error_code": "\\ud800"})
    parts.ask("/v1/chat/completions", {…})
    parts.check()
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from typing_extensions import override

from tests.support.waiting import BOUND_S
from tests.support.web_app import Reply, WebApp, web_app

MODEL = "openai/gpt-5-mini"
_SERVER = """
import json, pathlib, sys
result = pathlib.Path(sys.argv[1])
tool = {"name": "t", "description": "d", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        found = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                 "serverInfo": {"name": "s", "version": "1"}}
    elif asked["method"] == "tools/list":
        found = {"tools": [tool]}
    elif asked["method"] == "tools/call":
        answer = '{"jsonrpc":"2.0","id":%s,"result":%s}'
        print(answer % (json.dumps(asked["id"]), result.read_text()), flush=True)
        continue
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}),
              flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": found}), flush=True)
"""
_CONFIG = """\
tools:
  registry:
    - {{name: a, description: a, implementation: {{type: mock, mock_response: 1}}}}
mcpServers:
  hostile: {{command: {python}, args: [{script}, {result}]}}
  remote: {{type: http, url: "{remote}"}}
"""
USUAL: dict[str, Any] = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
"""A provider's usual answer."""


class HostileProvider(ThreadingHTTPServer):
    """Answers each request with ``answer``: a status, and a body."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer: tuple[int, bytes] = (200, json.dumps(USUAL).encode())
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", "0")))
        status, body = self.server.answer if isinstance(self.server, HostileProvider) else (500, b"")
        self.wfile.write(b"HTTP/1.1 %d x\r\ncontent-type: application/json\r\n" % status)
        self.wfile.write(b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body) + body)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        return


class HostileServer(ThreadingHTTPServer):
    """An MCP server over HTTP that answers each call of its tool with ``answer``: a status, a media type, and
    a body in which ``$ID`` is the request's id. All else it answers as it should."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _RemoteHandler)
        self.answer: tuple[int, str, bytes] = (200, "application/json", b"{}")
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _RemoteHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
        assert isinstance(self.server, HostileServer)
        if "id" not in asked:
            return self._reply(202, "application/json", b"")
        number = json.dumps(asked["id"])
        if asked["method"] == "tools/call":
            status, media_type, body = self.server.answer
            return self._reply(status, media_type, body.replace(b"$ID", number.encode()))
        tool = {"name": "t", "description": "d", "inputSchema": {"type": "object"}}
        known: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"},
            },
            "tools/list": {"tools": [tool]},
        }
        said = known.get(asked["method"])
        told = {"result": said} if said else {"error": {"code": -32601, "message": "no"}}
        return self._reply(
            200, "application/json", json.dumps({"jsonrpc": "2.0", "id": asked["id"], **told}).encode()
        )

    def do_GET(self) -> None:
        self._reply(405, "text/plain", b"")

    do_DELETE = do_GET

    def _reply(self, status: int, media_type: str, body: bytes) -> None:
        self.wfile.write(b"HTTP/1.1 %d x\r\ncontent-type: %s\r\n" % (status, media_type.encode()))
        self.wfile.write(b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body) + body)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        return


@dataclass
class Parts:
    """The running gateway, its ``provider``, the ``remote`` server, and the file of the other one's next
    result."""

    app: WebApp
    provider: HostileProvider
    remote: HostileServer
    result: Path

    def ask(self, path: str, body: Any = None, raw: bytes | None = None, method: str = "POST") -> Reply:
        """The gateway's answer."""
        return self.app.ask(method, path, body, raw)

    def send(self, line: bytes, *headers: bytes, body: bytes = b"") -> int:
        """The status of a request that is written byte by byte; 0 where the connection was closed."""
        import socket

        with socket.create_connection(("127.0.0.1", self.app.port), timeout=BOUND_S) as connection:
            head = b"\r\n".join((line, b"Host: 127.0.0.1", b"Connection: close", *headers, b"", b""))
            connection.sendall(head + body)
            try:
                response = http.client.HTTPResponse(connection)
                response.begin()
            except (http.client.HTTPException, ConnectionError):
                return 0
            return response.status

    def check(self) -> None:
        """Fail unless the process goes on, and nothing that nobody expected happened in it."""
        assert self.app.process.poll() is None, self.app.errors.read_text()[-3_000:]
        assert self.ask("/healthz", method="GET").status == 200
        said = self.app.errors.read_text()
        assert "Traceback" not in said, said[-3_000:]


@contextmanager
def hostile_parts(folder: Path) -> Iterator[Parts]:
    """The gateway, as the module says."""
    script, result = folder / "server.py", folder / "result.json"
    script.write_text(_SERVER)
    result.write_text('{"content": []}')
    provider, remote = HostileProvider(), HostileServer()
    written = _CONFIG.format(
        python=json.dumps(sys.executable),
        script=json.dumps(str(script)),
        result=json.dumps(str(result)),
        remote=f"http://127.0.0.1:{remote.server_port}/mcp",
    )
    try:
        with web_app(
            folder,
            config=written,
            verb="ui",
            OPENAI_API_KEY="sk-x",
            OPENAI_BASE_URL=f"http://127.0.0.1:{provider.server_port}/v1",
        ) as app:
            yield Parts(app, provider, remote, result)
    finally:
        for server in (provider, remote):
            server.shutdown()
            server.server_close()
