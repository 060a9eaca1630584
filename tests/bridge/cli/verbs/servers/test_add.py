"""``toolspan servers add`` as a person uses it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.support.cli import Ran, toolspan
from tests.support.terminal import Terminal
from toolspan_server.config import load_config

pytestmark = pytest.mark.requirement("I12.2.76")
ENTRY = {
    "name": "io.github.ann/weather",
    "description": "Weather of the world",
    "version": "1.2.0",
    "packages": [
        {
            "registryType": "mcpb",
            "identifier": "https://github.com/a/b/w.mcpb",
            "transport": {"type": "stdio"},
        },
        {
            "registryType": "npm",
            "identifier": "@ann/weather",
            "version": "1.2.0",
            "transport": {"type": "stdio"},
            "environmentVariables": [
                {"name": "WEATHER_KEY", "description": "Your key", "isRequired": True, "isSecret": True},
                {"name": "CITY", "description": "Where", "isRequired": True},
            ],
        },
    ],
    "remotes": [{"type": "streamable-http", "url": "https://weather.example.com/mcp"}],
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "server.json").write_text(json.dumps(ENTRY))
    return tmp_path


def add(place: Path, *arguments: str) -> Ran:
    return toolspan("servers", "add", *arguments, cwd=place)


@contextmanager
def answering(body: bytes, status: int = 200, **headers: str) -> Iterator[str]:
    """A web server on loopback that answers everything with ``body``; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/server.json"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_the_first_that_can_be_used_is_added(place: Path) -> None:
    done = add(place, "server.json", "--yes")
    assert done.code == 0
    assert "set WEATHER_KEY (Your key)" in done.err
    assert "1. mcpb package" in done.err
    variables = {"WEATHER_KEY": "x", "CITY": "Rome"}
    server = load_config(place / "toolspan.yaml", environ=variables).mcp_servers["weather"]
    assert (server.command, server.args, server.env) == ("npx", ("-y", "@ann/weather@1.2.0"), variables)


def test_another_is_added_when_it_is_named_with_values_and_a_name(place: Path) -> None:
    done = add(place, "server.json", "--use", "streamable-http", "--name", "far", "--yes", "--json")
    assert done.json["entry"] == {"type": "http", "url": "https://weather.example.com/mcp"}
    near = add(place, "server.json", "--use", "2", "--set", "CITY=Rome", "--yes", "--json").json
    assert (near["entry"]["env"]["CITY"], near["variables"]) == ("Rome", ["WEATHER_KEY"])
    assert "weather" in (place / "toolspan.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["server.json", "--use", "mcpb", "--yes"], "unpacked"),
        (["server.json", "--use", "oci", "--yes"], "has:"),
        (["server.json", "--set", "NONE=1", "--yes"], "no such input"),
        (["server.json", "--set", "NONE", "--yes"], "NAME=VALUE"),
        (["server.json"], "--yes"),
        (["none.json", "--yes"], "cannot be read"),
        (["toolspan.py", "--yes"], "not JSON"),
        (["file:///etc/passwd", "--yes"], "only http and https"),
        (["http://169.254.169.254/server.json", "--yes"], "169.254.169.254 is not reached"),
        (["http://localhost:1/server.json", "--yes"], "--allow-private"),
    ],
)
def test_what_cannot_be_added_says_why_and_writes_nothing(
    place: Path, arguments: list[str], says: str
) -> None:
    (place / "toolspan.py").write_text("x = 1")
    done = add(place, *arguments)
    assert (done.code in (2, 4), says in done.err) == (True, True), done.err
    assert not (place / "toolspan.yaml").exists()


def test_an_entry_is_fetched_from_a_url_that_is_allowed(place: Path) -> None:
    with answering(json.dumps({"server": ENTRY}).encode()) as url:
        assert "--allow-private" in add(place, url, "--yes").err
        assert add(place, url, "--allow-private", "--yes").code == 0
    assert "@ann/weather" in (place / "toolspan.yaml").read_text()


@pytest.mark.long
def test_an_answer_that_is_too_large_or_an_error_or_leads_inside_is_refused(place: Path) -> None:
    with answering(b"[" + b" " * 1_100_000) as url:
        assert "1,048,576" in add(place, url, "--allow-private", "--yes").err
    with answering(b"", 404) as url:
        assert "HTTP 404" in add(place, url, "--allow-private", "--yes").err
    with answering(b"", 302, Location="http://169.254.169.254/x") as url:
        assert "169.254.169.254 is not reached" in add(place, url, "--allow-private", "--yes").err


def test_a_server_of_the_same_name_is_replaced_only_when_told(place: Path) -> None:
    (place / "toolspan.yaml").write_text("mcpServers: {weather: {command: mine}}\n")
    assert "--overwrite" in add(place, "server.json", "--yes").err
    assert add(place, "server.json", "--yes", "--overwrite").code == 0


def test_at_a_terminal_values_are_asked_for_and_secrets_stay_variables(place: Path) -> None:
    with Terminal("servers", "add", "server.json", cwd=place) as terminal:
        terminal.until("CITY – Where")
        terminal.type("Rome\n")
        terminal.until("Write")
        terminal.type("y\n")
        terminal.until("set WEATHER_KEY")
        assert terminal.ended() == 0
        assert "WEATHER_KEY – " not in terminal.shown
    server = load_config(place / "toolspan.yaml", environ={"WEATHER_KEY": "1234"}).mcp_servers["weather"]
    assert server.env == {"WEATHER_KEY": "1234", "CITY": "Rome"}
