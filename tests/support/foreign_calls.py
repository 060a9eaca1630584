"""Calls of the servers of ``foreign_servers.py``, what their results hold, and a page for one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

PAGE = "<html><body><h1>Harbour</h1><p>The tide is high.</p></body></html>"


@contextmanager
def page() -> Iterator[str]:
    """A page of the web on loopback; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/tide"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def first_turn(place: Path, url: str) -> list[tuple[str, str, dict[str, Any], str]]:
    """Calls that do not need each other: server, tool, arguments, and what the result holds."""
    note = str(place / "repository" / "note.txt")
    entity = {"name": "Ann", "entityType": "person", "observations": ["likes tides"]}
    kyoto = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    return [
        ("everything", "echo", {"message": "hello"}, "hello"),
        ("everything", "get-sum", {"a": 2, "b": 40}, "42"),
        ("everything", "get-structured-content", {"location": "Chicago"}, "temperature"),
        ("everything", "get-tiny-image", {}, "image"),
        ("everything", "get-resource-links", {"count": 2}, "demo://resource"),
        ("filesystem", "list_allowed_directories", {}, str(place / "files")),
        ("filesystem", "write_file", {"path": str(place / "files" / "a.txt"), "content": "one"}, "wrote"),
        ("memory", "create_entities", {"entities": [entity]}, "Ann"),
        ("git", "git_status", {"repo_path": str(place / "repository")}, "branch"),
        ("fetch", "fetch", {"url": url}, "The tide is high"),
        ("time", "convert_time", kyoto, "21:00"),
        ("filesystem", "read_text_file", {"path": note}, "denied"),
    ]


def second_turn(place: Path) -> list[tuple[str, str, dict[str, Any], str]]:
    """Calls that need what the first ones did."""
    return [
        ("filesystem", "read_text_file", {"path": str(place / "files" / "a.txt")}, "one"),
        ("memory", "search_nodes", {"query": "tides"}, "likes tides"),
        ("time", "get_current_time", {"timezone": "Europe/Lisbon"}, "Lisbon"),
        ("everything", "trigger-long-running-operation", {"duration": 1, "steps": 2}, "completed"),
    ]
