"""The toolbox against real subprocesses, well-behaved and not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.cost import at_most
from tests.support.mcp_peers import call, raw, sdk
from tests.support.waiting import BOUND_S, eventually, until
from toolspan_bridge.toolbox import Toolbox
from toolspan_server.engines.upstreams import ServerSpec

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I2.6.1")]

NOT_READABLE = ("bad_utf8", "deep")


@asynccontextmanager
async def connected(*servers: ServerSpec, connect_timeout: float = BOUND_S) -> AsyncIterator[Toolbox]:
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect(servers, connect_timeout=connect_timeout) as toolbox:
            yield toolbox


async def test_the_tools_of_all_servers_are_there_sorted_by_server_and_name() -> None:
    async with connected(sdk(), raw(name="b"), raw("malformed_tools", name="a")) as toolbox:
        keys = [tool.key for tool in toolbox.tools]
        assert keys == sorted(keys)
        assert {server for server, _ in keys} == {"a", "b", "sdk"}
        assert (await call(toolbox, "add", a=2, b=3)).result["success"]
        add = next(tool for tool in toolbox.tools if tool.name == "add")
        assert add.description == "The sum of two integers."
        assert add.schema["properties"]["a"]["type"] == "integer"


async def test_one_dead_server_costs_only_its_own_tools_and_is_reported_with_its_stderr() -> None:
    dead = raw("dies", name="dead", env={"MY_KEY": "hunter2hunter2"})
    async with connected(raw(), dead) as toolbox:
        assert (await call(toolbox, "echo", x=1)).result["result"] == '{"x": 1}'
        (failure,) = toolbox.failures
    assert (failure.server, failure.reason) == ("dead", "it exited with status 3 before it answered")
    assert len(failure.stderr) == 20
    assert failure.stderr[-2:] == ("line 29 of complaint", "the key *** is refused")
    assert "line 29 of complaint" in str(failure) and "hunter2" not in str(failure)


async def test_servers_connect_side_by_side(tmp_path: Path) -> None:
    meeting = [raw("meets", str(tmp_path), "3", name=f"m{number}") for number in range(3)]
    async with connected(*meeting) as toolbox:
        assert toolbox.failures == ()


async def test_silent_servers_are_given_up_after_the_time_to_connect() -> None:
    silent = [raw("silent", name=f"s{number}") for number in range(4)]
    async with connected(*silent, connect_timeout=0.3) as toolbox:
        assert [failure.reason for failure in toolbox.failures] == ["no answer within 0.3 s"] * 4


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (ServerSpec("x", command=("no-such-program-anywhere",)), "'no-such-program-anywhere' was not found"),
        (raw(cwd="/no/such/folder"), "the folder /no/such/folder does not exist"),
        (ServerSpec("x", command=("/",)), "cannot be started"),
        (ServerSpec("x", command=("true",)), "exited with status 0 before it answered"),
        (replace(raw(), problem="it is not right (write it)"), "it is not right (write it)"),
    ],
)
async def test_a_server_that_cannot_start_says_why(spec: ServerSpec, reason: str) -> None:
    async with connected(spec) as toolbox:
        assert toolbox.tools == ()
        assert reason in toolbox.failures[0].reason


@pytest.mark.requirement("I12.7.1")
async def test_a_server_that_answers_the_discovery_too_late_is_discovered_again() -> None:
    async with connected(raw("late")) as toolbox:
        assert (toolbox.failures, bool(toolbox.tools)) == ((), True)


async def test_what_a_server_says_on_stdout_beside_the_protocol_does_no_harm() -> None:
    async with connected(raw("chatty")) as toolbox:
        assert (await call(toolbox, "echo")).result["success"]


async def test_an_error_of_an_exception_in_the_block_comes_out_as_itself() -> None:
    with pytest.raises(ZeroDivisionError):
        async with connected(raw()):
            raise ZeroDivisionError


async def test_pages_that_never_end_are_cut_with_a_warning() -> None:
    async with connected(raw("endless_pages"), raw("circling_pages", name="round")) as toolbox:
        counts = [sum(tool.server == name for tool in toolbox.tools) for name in ("raw", "round")]
        assert counts == [100, 3]
        assert any("more than 100 pages" in warning for warning in toolbox.warnings)
        assert any("comes round again" in warning for warning in toolbox.warnings)


async def test_more_tools_than_the_limit_are_left_out_with_a_warning() -> None:
    async with connected(raw("many_tools")) as toolbox:
        assert len(toolbox.tools) == 1_000
        assert "more than 1000 tools" in toolbox.warnings[0]


async def test_malformed_and_double_tools_do_not_lose_the_good_ones() -> None:
    async with connected(raw("malformed_tools")) as toolbox:
        assert [tool.name for tool in toolbox.tools] == ["first", "last", "shaky"]
        said = "\n".join(toolbox.warnings)
    assert "tool 'no_schema' (no. 3) left out: its inputSchema" in said
    assert "tool 7 (no. 2) left out: its name" in said
    assert "tool 'first' is listed twice" in said


async def test_a_long_description_is_cut_at_a_whole_character() -> None:
    async with connected(raw("long_description")) as toolbox:
        description = toolbox.tools[0].description
        assert description == "ü" * 2_048 + " […]"
        assert "was cut to 4096 bytes" in toolbox.warnings[0]


async def test_a_hostile_output_schema_is_never_run() -> None:
    async with connected(raw("bombs")) as toolbox:
        with at_most(units=100):
            assert (await call(toolbox, "echo")).result["success"]


async def test_a_hung_call_times_out_is_cancelled_at_the_server_and_others_go_on(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with connected(raw(call_timeout=0.3)) as toolbox:
        hung = await call(toolbox, "hang", note=str(note))
        assert (hung.result["error"], hung.result["error_code"]) == (
            "Tool execution timed out after 300ms",
            "timeout",
        )
        assert (await call(toolbox, "echo")).result["success"]
        assert eventually(note.exists)


async def test_cancelling_a_call_cancels_it_at_the_server(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with connected(raw()) as toolbox:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(call, toolbox, "hang", note=str(note)))
            await until(Path(f"{note}.started").exists)
            tasks.cancel_scope.cancel()
        assert (await call(toolbox, "echo")).result["success"]
        assert eventually(note.exists)


async def test_a_server_that_dies_in_a_call_fails_that_call_and_is_started_again() -> None:
    async with connected(raw(), raw(name="other", mood="malformed_tools")) as toolbox:
        died = (await call(toolbox, "die")).result
        assert died["error"] == "server 'raw' is gone: it exited with status 7 (it last said: out of luck)"
        assert died["error_code"] == "server_unavailable"
        assert (await call(toolbox, "echo")).result["success"]
        assert "SIGSEGV" in (await call(toolbox, "crash")).result["error"]
        assert (await call(toolbox, "echo")).result["success"]


@pytest.mark.parametrize("tool", [*NOT_READABLE, "huge"])
async def test_an_answer_that_cannot_be_read_fails_its_call_at_once(tool: str) -> None:
    async with connected(raw()) as toolbox:
        with anyio.fail_after(BOUND_S):
            failed = (await call(toolbox, tool)).result
        assert "server 'raw' sent an answer" in failed["error"]
        assert ("4194304 bytes" in failed["error"]) == (tool == "huge")
        assert (await call(toolbox, "echo")).result["success"]


async def test_an_answer_that_is_no_tool_result_fails_its_call() -> None:
    async with connected(raw()) as toolbox:
        assert "no tool result" in (await call(toolbox, "no_result")).result["error"]


async def test_requests_of_the_server_are_refused() -> None:
    async with connected(raw()) as toolbox:
        assert (await call(toolbox, "ask")).result["result"] == "refused refused"


async def test_a_flood_of_notifications_is_survived() -> None:
    async with connected(raw()) as toolbox:
        assert (await call(toolbox, "flood")).result["result"] == "after the flood"


@pytest.mark.requirement("I2.6.4")
async def test_errors_of_the_protocol_are_tool_results_too() -> None:
    async with connected(raw(env={"MY_KEY": "hunter2hunter2"})) as toolbox:
        refused = (await call(toolbox, "refuse")).result
        assert (refused["error"], refused["error_code"]) == (
            "arguments: 'x' is missing",
            "invalid_parameters",
        )
        unlisted = replace(toolbox.tools[0], name="nope")
        missing = (await toolbox.call(unlisted, {}, "1")).result
        assert (missing["error"], missing["error_code"]) == ("Tool 'nope' not found", "tool_not_found")
        elsewhere = replace(toolbox.tools[0], server="nowhere")
        assert (await toolbox.call(elsewhere, {}, "1")).result["error_code"] == "tool_not_found"
        assert (await call(toolbox, "secret")).result["error"] == "bad key ***"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {1, 2}])
async def test_arguments_that_are_no_json_never_reach_the_server(value: Any) -> None:
    async with connected(raw()) as toolbox:
        refused = (await call(toolbox, "echo", x=value)).result
        assert refused["error_code"] == "invalid_parameters"
        assert (await call(toolbox, "echo", x=1)).result["success"]


@pytest.mark.requirement("I2.6.4")
async def test_the_time_is_the_server_s_where_it_tells_it_and_measured_otherwise() -> None:
    async with connected(raw()) as toolbox:
        assert (await call(toolbox, "timed")).result["execution_time_ms"] == 12.5
        assert (await call(toolbox, "echo")).result["execution_time_ms"] > 0


async def test_calls_run_side_by_side() -> None:
    async with connected(raw()) as toolbox, anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(partial(call, toolbox, "meet", count=5))


async def test_an_external_server_gets_only_harmless_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "mine-alone")
    async with connected(raw(), raw(name="trusted", inherit_env=True)) as toolbox:
        tools = [tool for tool in toolbox.tools if tool.name == "secret"]
        own, trusted = [(await toolbox.call(tool, {}, "1")).result["error"] for tool in tools]
    assert (own, trusted) == ("bad key None", "bad key mine-alone")
