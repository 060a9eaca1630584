"""Who reads what unexpected errors say: the operator on stdio, over HTTP the log alone."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.executors import builtin
from tests.support.raw_http import RawClient, tool_call
from tests.support.served import StdioServer, call, http_server, tool
from tests.support.upstreams import raw
from toolspan_server import (
    Config,
    Context,
    handler,
    running,
)
from toolspan_server.calls.caller import LOCAL

pytestmark = pytest.mark.requirement("I9.3.19")

HANDLERS = """
from toolspan_server import ToolFailure, handler

@handler("opens")
def opens(arguments, context):
    return (context.config_dir / "secret-place.txt").read_text()

@handler("says")
def says(arguments, context):
    raise ToolFailure("No such city")
"""
STEPS = [{"id": "open", "tool": "opens"}]


def written(folder: Path, **serving: Any) -> Path:
    """Tools that fail: by an exception, in their own words, inside a pipeline, by an upstream's end."""
    (folder / "handlers.py").write_text(HANDLERS)
    registry = [
        tool("opens", {"type": "builtin", "handler": "opens"}),
        tool("says", {"type": "builtin", "handler": "says"}),
        tool("inside", {"type": "pipeline", "steps": STEPS}),
        tool("gone", {"type": "mcp", "upstream": "raw", "tool": "die"}),
    ]
    config = {
        "handlers": ["handlers.py"],
        "serving": serving,
        "services": {"upstreams": {"raw": raw()}},
        "tools": {"registry": registry},
    }
    path = folder / "toolspan.json"
    path.write_text(json.dumps(config))
    return path


def contains(part: str, line: str) -> bool:
    return part in line


def error_of(answer: Any) -> str:
    result = answer["result"]
    assert result["isError"] is True
    return str(json.loads(result["content"][0]["text"])["error"])


def test_over_http_what_nobody_expected_is_told_by_a_reference_to_the_log(tmp_path: Path) -> None:
    with http_server(written(tmp_path)) as server, RawClient(server.address) as client:
        told = {}
        for name in ("opens", "inside", "gone", "says"):
            client.send(tool_call(name, {}))
            told[name] = error_of(client.answer().message)
        assert told.pop("says") == "No such city"
        for error in told.values():
            assert "secret-place" not in error and "out of luck" not in error
            [reference] = re.findall(r"reference ([0-9a-f]{8})", error)
            server.errors.first(partial(contains, f"(reference {reference})"))
        for hidden in ("secret-place.txt", "out of luck"):
            server.errors.first(partial(contains, hidden))


def test_on_stdio_the_person_is_the_operator_and_reads_it(tmp_path: Path) -> None:
    with StdioServer(written(tmp_path)).handshake() as server:
        assert "secret-place.txt" in error_of(server.ask(call(1, "opens", {})))
        assert "secret-place.txt" in error_of(server.ask(call(2, "inside", {})))
        assert "out of luck" in error_of(server.ask(call(3, "gone", {})))


@handler("details.opens")
async def opens(_arguments: dict[str, Any], context: Context) -> str:
    return (context.config_dir / "secret-place.txt").read_text()


@pytest.mark.anyio
@pytest.mark.parametrize(("setting", "tells"), [(None, False), (False, False), (True, True)])
async def test_the_config_decides_otherwise_also_when_it_changes(setting: bool | None, tells: bool) -> None:
    def config(**serving: Any) -> Config:
        tools = {"registry": [builtin("opens", "details.opens")]}
        return Config.model_validate({"serving": serving, "tools": tools})

    async with running(config()) as runtime:
        assert "secret-place" in (await runtime.execute("opens", None, LOCAL)).error
        runtime.serve_remotely()
        assert "secret-place" not in (await runtime.execute("opens", None, LOCAL)).error
        await runtime.replace(config(error_details=setting))
        assert ("secret-place" in (await runtime.execute("opens", None, LOCAL)).error) is tells
