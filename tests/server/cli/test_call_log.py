"""The server's log has a line for each call, and a person who starts a server is told what it waits for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.served import StdioServer, call
from tests.support.terminal import Terminal

CONFIG = """\
name: shop
tools:
  registry:
    - {name: one, description: Mock one, implementation: {type: mock, mock_response: 1}}
    - name: sum
      description: Add
      parameters: {type: object, properties: {expression: {type: string}}, required: [expression]}
      implementation: {type: builtin, handler: math_eval}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "toolspan.yaml"
    path.write_text(CONFIG)
    return path


@pytest.mark.requirement("I13.2.10")
def test_a_call_of_every_kind_is_a_line_of_the_log_with_its_outcome_time_and_client(shop: Path) -> None:
    with StdioServer(shop, "--log-level", "info", "--log-format", "json") as server:
        server.handshake()
        for number, (name, arguments) in enumerate(
            [("one", {}), ("sum", {"expression": "1+1"}), ("sum", {"expression": "1+"}), ("sum", {})], start=1
        ):
            server.ask(call(number, name, arguments))
        server.close_input()
        lines = [json.loads(line) for line in server.errors.text.splitlines()]
    calls = [line for line in lines if "outcome" in line]
    assert [(line["tool"], line["outcome"]) for line in calls[:2]] == [("one", "ok"), ("sum", "ok")]
    assert [line["outcome"] == "ok" for line in calls[2:]] == [False, False]
    assert calls[3]["outcome"] == "invalid_parameters"
    for line in calls:
        assert (line["level"], line["client"].split()[0]) == ("info", "tests"), line
        assert line["ms"] >= 0 and line["time"] and line["tool"] in line["message"]


@pytest.mark.requirement("I13.2.10")
def test_without_the_level_info_calls_are_not_logged(shop: Path) -> None:
    with StdioServer(shop) as server:
        server.handshake().ask(call(1, "sum", {"expression": "1+1"}))
        server.close_input()
        assert server.errors.text == ""


@pytest.mark.requirement("I13.2.10")
def test_a_modern_request_names_its_client_itself(shop: Path) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "evil\x1b]52;c;QQ\x07\nFAKE", "version": "1"},
    }
    with StdioServer(shop, "--log-level", "info") as server:
        assert "result" in server.ask(call(1, "one", {}, _meta=meta))
        line = server.errors.first(lambda line: "call of 'one': ok in " in line)
    assert r"client 'evil\x1b]52;c;QQ\x07\nFAKE 1'" in line


@pytest.mark.requirement("I13.2.11")
@pytest.mark.long
def test_a_server_that_a_person_started_says_what_it_waits_for_and_how_a_client_comes(shop: Path) -> None:
    with Terminal("serve", "--config", "toolspan.yaml", cwd=shop.parent) as terminal:
        terminal.until("on stdin and stdout, where an MCP client is expected")
        terminal.until("toolspan install CLIENT")
        terminal.type("\x03")
        assert terminal.ended() == 130
    http = ("serve", "--config", "toolspan.yaml", "--transport", "http", "--port", "0")
    with Terminal(*http, cwd=shop.parent) as terminal:
        came = terminal.until("/mcp (Streamable HTTP)")
        url = came.rpartition(" at ")[2].removesuffix(" (Streamable HTTP)")
        terminal.until(f'mcpServers: {{"shop": {{"url": "{url}"}}}}')
        terminal.type("\x03")
        assert terminal.ended() in (0, 130)
