"""``serve --debug``: what clients send and get is in the log, without secrets, and never on stdout."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from tests.support.served import INITIALIZE, StdioServer, call, http_server
from tests.support.waiting import BOUND_S

pytestmark = [pytest.mark.long, pytest.mark.requirement("I13.2.52")]

RAW = Path(__file__).parents[2] / "support" / "mcp_servers" / "raw.py"
PLANTED = {"NAMED": "planted-variable", "MY_API_KEY": "planted-by-its-name", "HTTP_TOKEN": "planted-bearer"}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A server with a tool that says again what it is told, and another server's tools."""
    echo: dict[str, Any] = {
        "name": "say",
        "description": "Say it again",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
        "implementation": {"type": "mock", "response": {"said": "{{ text }}"}},
    }
    far = {"command": sys.executable, "args": [str(RAW)], "env": {"ANY": "planted-env", "N": "${NAMED}"}}
    path = tmp_path / "toolspan.yaml"
    tools = {"registry": [echo], "sources": [{"type": "mcp", "upstream": "far"}]}
    path.write_text(yaml.safe_dump({"name": "shop", "tools": tools, "services": {"upstreams": {"far": far}}}))
    return path


def secret_free(text: str) -> bool:
    return not any(secret in text for secret in (*PLANTED.values(), "planted-env"))


def test_on_stdio_each_message_is_logged_with_its_method_and_id(config: Path) -> None:
    with StdioServer(config, "--debug", env=PLANTED) as server:
        server.handshake()
        text = f"{json.dumps(PLANTED)} Bearer {PLANTED['HTTP_TOKEN']}"
        server.send(b"rubbish")
        assert server.receive()["error"]["code"] == -32700
        answer = server.ask(call(7, "say", {"text": text}))
        assert answer["result"]["structuredContent"]["said"]
        server.errors.first(lambda line: "→ client: result of tools/call, id 7" in line)
        log = server.errors.text
    assert "DEBUG toolspan_server.wire: ← client: initialize, id " in log
    assert "← client: what is no JSON" in log and "    rubbish" in log
    assert "← client: tools/call, id 7" in log
    assert secret_free(log), log


def test_what_another_server_is_asked_is_logged_too(config: Path) -> None:
    with StdioServer(config, "--debug", env=PLANTED) as server:
        server.errors.first(lambda line: "← server 'far' (stdio): result of tools/list" in line)
        server.handshake()
        server.ask(call(3, "echo", {"text": "planted-env planted-variable"}))
        server.errors.first(lambda line: "← server 'far' (stdio): result of tools/call" in line)
        assert secret_free(server.errors.text)


@pytest.mark.parametrize("form", ["text", "json"])
def test_on_http_each_request_has_its_number_path_and_status(config: Path, form: str) -> None:
    options = ("--debug", "--log-format", form, "--token-env", "HTTP_TOKEN")
    token = PLANTED["HTTP_TOKEN"]
    headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
    with (
        http_server(config, *options, env=PLANTED) as served,
        httpx2.Client(base_url=served.url, timeout=BOUND_S) as client,
    ):
        assert client.post(f"/mcp?token={token}", json=INITIALIZE).status_code == 401
        opened = client.post("/mcp", json=INITIALIZE, headers=headers)
        session = {**headers, "mcp-session-id": opened.headers["mcp-session-id"]}
        said = client.post("/mcp", json=call(7, "say", {"text": f"it is {token}"}), headers=session)
        assert token in said.text
        served.errors.first(lambda line: "result of tools/call, id 7" in line)
        log = served.errors.text
    assert "POST /mcp?token=***" in log
    assert ": 401, application/json: " in log
    assert "POST /mcp: tools/call, id 7" in log
    assert "it is ***" in log
    assert session["mcp-session-id"] not in log
    assert secret_free(log), log
    if form == "json":
        wires = [line for line in log.splitlines() if "toolspan_server.wire" in line]
        assert wires and all(json.loads(line)["level"] == "debug" for line in wires)


def test_the_events_of_a_stream_are_logged_as_they_go(config: Path) -> None:
    with (
        http_server(config, "--debug", env=PLANTED) as served,
        httpx2.Client(base_url=served.url, timeout=BOUND_S) as client,
        client.stream("GET", "/sse") as stream,
    ):
        lines = stream.iter_lines()
        endpoint = next(line for line in lines if line.startswith("data:")).removeprefix("data:").strip()
        client.post(endpoint, json=INITIALIZE)
        assert any("protocolVersion" in line for line in lines)
        served.errors.first(lambda line: "event: result of a request, id " in line)
        log = served.errors.text
    assert "→ client 127.0.0.1:" in log and ": 200, text/event-stream" in log and "of GET /sse" in log
    assert "/messages/?session_id=***" in log
    assert endpoint.partition("session_id=")[2] not in log


def test_without_it_no_message_is_logged_at_any_level(config: Path) -> None:
    with StdioServer(config, "--log-level", "debug", env=PLANTED) as server:
        server.handshake().ask(call(7, "say", {"text": "ho"}))
        server.close_input()
        assert "toolspan_server.wire" not in server.errors.text
