"""Calls of one turn side by side, from the command line to a real server, which says what it saw."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Ran, toolspan
from tests.support.waiting import BOUND_S

HANDLERS = '''
import time
import anyio
from toolspan_server import handler

inside = peak = arrived = 0
came = anyio.Condition()


@handler("meet")
async def meet(arguments, context):
    """Leaves when as many have come as make a round; says how many were here at most."""
    global inside, peak, arrived
    async with came:
        inside += 1
        arrived += 1
        peak = max(peak, inside)
        mine = -(-arrived // arguments["round"]) * arguments["round"]
        came.notify_all()
        while arrived < mine:
            await came.wait()
        inside -= 1
    return {"peak": peak}


@handler("alone")
async def alone(arguments, context):
    global inside, peak
    inside += 1
    seen = inside
    for _ in range(100):
        await anyio.lowlevel.checkpoint()
        seen = max(seen, inside)
    inside -= 1
    return {"seen": seen}


@handler("until")
async def until(arguments, context):
    while not await anyio.Path(arguments["file"]).exists():
        await anyio.sleep(0.01)
    return "late"


def are_ten(arguments, context):
    (context.config_dir / f"came{arguments['n']}").touch()
    return len(list(context.config_dir.glob("came*"))) == 10


@handler("gather_plain")
def gather_plain(arguments, context):
    while not are_ten(arguments, context):
        time.sleep(0.01)
    return "ten"


@handler("gather_async")
async def gather_async(arguments, context):
    while not are_ten(arguments, context):
        await anyio.sleep(0.01)
    return "ten"
'''
NUMBER: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
ROUND = {**NUMBER, "properties": {**NUMBER["properties"], "round": {"type": "integer"}}}
FILE = {"type": "object", "properties": {"file": {"type": "string"}}}


def tool(name: str, parameters: dict[str, Any], isolation: str | None = None, **more: Any) -> dict[str, Any]:
    implementation = {"type": "builtin", "handler": name, **({"isolation": isolation} if isolation else {})}
    return {
        "name": name,
        "description": name,
        "parameters": parameters,
        "implementation": implementation,
        **more,
    }


def config(folder: Path, calls: list[tuple[str, dict[str, Any]]], max_parallel: int, **hints: Any) -> None:
    """A config with a server of ours, and a model that makes ``calls`` in one turn."""
    (folder / "meeting.py").write_text(HANDLERS)
    tools = [tool("meet", ROUND), tool("alone", NUMBER, **hints), tool("until", FILE)]
    saved(folder, calls, {"max_parallel": max_parallel, "registry": tools})


def saved(folder: Path, calls: list[tuple[str, dict[str, Any]]], tools: dict[str, Any]) -> None:
    (folder / "toolspan.json").write_text(json.dumps({"handlers": ["meeting.py"], "tools": tools}))
    written = [{"tool": name, "arguments": arguments} for name, arguments in calls]
    (folder / "turns.yaml").write_text(json.dumps({"turns": [{"calls": written}, {"text": "done"}]}))


OPTIONS = ("-c", "toolspan.json", "-m", "scripted/turns.yaml", "--no-save")


def asked(folder: Path, verb: str) -> list[dict[str, Any]]:
    """The values of the results, in the order of the calls."""
    ran: Ran
    if verb == "ask":
        ran = toolspan("ask", "Go", *OPTIONS, "--json", cwd=folder)
    else:
        ran = toolspan("chat", *OPTIONS, "--json", cwd=folder, stdin="Go\n")
    assert ran.code == 0, ran.err
    return [use["result"]["result"] for use in ran.json["tool_calls"]]


@pytest.mark.requirement("I12.5.50")
@pytest.mark.parametrize(("verb", "max_parallel"), [("ask", 10), ("chat", 5)])
def test_as_many_calls_as_the_config_says_are_inside_the_server_at_once(
    tmp_path: Path, verb: str, max_parallel: int
) -> None:
    config(tmp_path, [("meet", {"n": n, "round": max_parallel}) for n in range(10)], max_parallel)
    results = asked(tmp_path, verb)
    assert len(results) == 10
    assert max(result["peak"] for result in results) == max_parallel


@pytest.mark.long
@pytest.mark.requirement("I12.7.8")
@pytest.mark.parametrize(
    ("handler", "isolation"),
    [("gather_async", None), ("gather_plain", None), ("gather_plain", "thread"), ("gather_async", "process")],
)
def test_ten_calls_of_one_handler_run_at_once_where_no_limit_is_set(
    tmp_path: Path, handler: str, isolation: str | None
) -> None:
    (tmp_path / "meeting.py").write_text(HANDLERS)
    gather = tool(handler, NUMBER, isolation, timeout_ms=100_000)
    saved(tmp_path, [(handler, {"n": n}) for n in range(10)], {"registry": [gather]})
    assert asked(tmp_path, "ask") == ["ten"] * 10


@pytest.mark.requirement("I12.5.50")
@pytest.mark.parametrize("hints", [{"annotations": {"idempotent": False}}, {"sequential": True}])
def test_a_tool_that_is_not_idempotent_or_sequential_is_alone_in_the_server(
    tmp_path: Path, hints: dict[str, Any]
) -> None:
    pair = [("meet", {"n": n, "round": 2}) for n in range(2)]
    calls = [*pair, ("alone", {"n": 1}), ("alone", {"n": 2}), *pair]
    config(tmp_path, [(name, {**given, "n": n}) for n, (name, given) in enumerate(calls)], 10, **hints)
    results = asked(tmp_path, "ask")
    assert [result.get("seen") for result in results] == [None, None, 1, 1, None, None]


@pytest.mark.requirement("I12.5.50")
def test_a_result_is_shown_when_its_call_ends_while_others_still_run(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    config(tmp_path, [("until", {"file": str(gate)}), ("meet", {"n": 1, "round": 1})], 2)
    command = [sys.executable, "-m", "toolspan_bridge", "ask", "Go", *OPTIONS]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None and process.stdout is not None
        try:
            shown = [next(line for line in process.stderr if line.startswith("←"))]
            assert "peak" in shown[0]
            gate.touch()
            shown += [line for line in process.stderr if line.startswith("←")]
            assert "late" in shown[1]
            assert process.wait(BOUND_S) == 0
        finally:
            process.kill()
