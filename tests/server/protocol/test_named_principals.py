"""Who a call is made for: the transport says it, and a request only where the program that started us speaks
for several people."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.raw_http import RawClient, request
from tests.support.served import INITIALIZE, call, http_server
from tests.support.workspaces import answers_of
from toolspan_server.calls.caller import PRINCIPAL_KEY

pytestmark = pytest.mark.requirement("I24.3.1")

HANDLER = """
from toolspan_server import handler

@handler("tests_told")
def told(arguments, context):
    return list(context.caller)
"""
LONG = {"progress_token": 1}
"""What sends a request the long way, through the SDK."""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "told.py").write_text(HANDLER)
    made = {"type": "builtin", "handler": "tests_told"}
    apart = {**made, "isolation": "process"}
    reads = {"annotations": {"read_only": True}, "cache": {"ttl_ms": 60_000}}
    cached = {"name": "cached", "description": "c", "implementation": made, **reads}
    tools = [
        {"name": "told", "description": "t", "implementation": {**made, "isolation": "thread"}},
        {"name": "apart", "description": "t", "implementation": apart},
        cached,
    ]
    path = tmp_path / "toolspan.json"
    path.write_text(json.dumps({"handlers": ["told.py"], "tools": {"registry": tools}}))
    return path


def _named(principal: Any, **more: Any) -> dict[str, Any]:
    return {"_meta": {PRINCIPAL_KEY: principal, **more}}


def _told(answer: Any) -> Any:
    return json.loads(answer["result"]["content"][0]["text"])


@pytest.mark.parametrize("more", [{}, LONG], ids=["short way", "long way"])
def test_a_program_that_speaks_for_several_people_names_each(config: Path, more: dict[str, Any]) -> None:
    requests = [
        call(1, "told", **_named("token ann", **more)),
        call(2, "apart", **_named("token bob", **more)),
        call(3, "cached", **_named("token ann", **more)),
        call(4, "cached", **_named("token bob", **more)),
        call(5, "told", **_named("local", **more)),
    ]
    answers = answers_of(config.parent, ["--principals", "meta", "--config", str(config)], *requests)
    found = [_told(answers[number]) for number in range(1, 6)]
    names = ["token ann", "token bob", "token ann", "token bob", "local"]
    assert found == [[name, "default"] for name in names]


@pytest.mark.parametrize("more", [{}, LONG], ids=["short way", "long way"])
@pytest.mark.parametrize("named", [{}, _named(""), _named(7), _named(["local"]), _named("x" * 10_001)])
def test_its_calls_for_nobody_are_refused(config: Path, named: Any, more: dict[str, Any]) -> None:
    asked = call(1, "told", _meta={**named.get("_meta", {}), **more})
    answers = answers_of(config.parent, ["--principals", "meta", "--config", str(config)], asked)
    assert answers[1]["error"]["code"] == -32602
    assert "--principals meta" in answers[1]["error"]["message"]


@pytest.mark.parametrize("more", [{}, LONG], ids=["short way", "long way"])
def test_any_other_client_that_names_one_is_refused(config: Path, more: dict[str, Any]) -> None:
    asked = call(1, "told", **_named("token ann", **more))
    answers = answers_of(config.parent, ["--config", str(config)], asked)
    assert answers[1]["error"]["code"] == -32602
    assert "leave it out" in answers[1]["error"]["message"]


@pytest.mark.parametrize("more", [{}, LONG], ids=["short way", "long way"])
def test_over_http_nobody_names_a_principal(config: Path, more: dict[str, Any]) -> None:
    kinds = (("accept", "application/json, text/event-stream"), ("content-type", "application/json"))
    with http_server(config) as server, RawClient(server.address) as client:
        body = json.dumps(INITIALIZE).encode()
        session = client.send(request("POST", "/mcp", *kinds, body=body)).answer().headers["mcp-session-id"]
        headers = (*kinds, ("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25"))
        asked = json.dumps(call(1, "told", {}, **_named("token ann", **more))).encode()
        refused = client.send(request("POST", "/mcp", *headers, body=asked)).answer()
    assert (refused.status, refused.message["error"]["code"]) == (400, -32602)


def test_over_http_the_option_is_refused(config: Path) -> None:
    options = ["--principals", "meta", "--transport", "http", "--port", "0", "--config", str(config)]
    ran = subprocess.run(
        [sys.executable, "-m", "toolspan_server", *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ran.returncode, "--transport stdio" in ran.stderr) == (2, True)
