"""What comes of a call in a worker process is what would come of it beside the server, or better."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.isolated import config, entry, served
from tests.support.upstreams import FakeClient, ReturningClient
from toolspan_server import Context, load_config
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.client import InputRequired
from toolspan_server.errors import ConfigError

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.requirement("I9.2.14")]


async def test_a_plain_function_of_a_configs_file_runs_in_a_worker_and_an_async_one_on_the_loop(
    tmp_path: Path,
) -> None:
    more = (
        entry("thread", "isolated_pid", isolation="thread"),
        entry("loop_apart", "isolated_loop", isolation="process"),
        entry("inside", "isolated_inside", type="internal"),
        entry("math", "math_eval"),
        entry("math_apart", "math_eval", isolation="process"),
    )
    async with served(config(tmp_path, *more)) as runtime:
        own = os.getpid()
        first = (await runtime.execute("pid", {}, LOCAL)).result
        again = (await runtime.execute("pid", {}, LOCAL)).result
        assert first["pid"] == again["pid"] != own
        assert again["calls"] == first["calls"] + 1
        assert (await runtime.execute("thread", {}, LOCAL)).result["pid"] == own
        assert (await runtime.execute("loop", {}, LOCAL)).result == own
        assert (await runtime.execute("inside", {}, LOCAL)).result == own
        assert (await runtime.execute("loop_apart", {}, LOCAL)).result != own
        for name in ("math", "math_apart"):
            assert (await runtime.execute(name, {"expression": "6*7"}, LOCAL)).result == {"result": 42}


def test_an_internal_handler_cannot_be_apart_from_the_services_that_it_works_on(tmp_path: Path) -> None:
    inside = entry("inside", "isolated_inside", type="internal", isolation="process")
    with pytest.raises(ConfigError, match=r"implementation\.isolation.*write isolation: thread"):
        load_config(config(tmp_path, inside))


async def test_results_and_errors_are_those_of_a_handler_beside_the_server(tmp_path: Path) -> None:
    beside = entry("beside", "isolated_outcome", isolation="thread")
    hows = (
        "failure",
        "group",
        "unwilling",
        "exit",
        "nan",
        "object",
        "tuple",
        "content",
        "large",
    )
    async with served(config(tmp_path, beside)) as runtime:
        for how in hows:
            apart = await runtime.execute("outcome", {"how": how}, LOCAL)
            own = await runtime.execute("beside", {"how": how}, LOCAL)
            for name in ("success", "result", "error", "error_code", "user_action", "content", "meta"):
                assert getattr(apart, name) == getattr(own, name), (how, name)


async def test_what_a_handler_raised_is_in_the_log_with_its_lines(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        async with served(config(tmp_path)) as runtime:
            await runtime.execute("outcome", {"how": "unwilling"}, LOCAL)
    assert "isolated_handlers.py" in caplog.text
    assert "Unwilling: unwilling" in caplog.text


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        (
            "kill",
            "worker_ended",
            "ended by signal SIGKILL (from outside, or for lack of memory; limits.handler_m",
        ),
        ("leave", "worker_ended", "ended with status 3"),
        ("memory", "out_of_memory", "limits.handler_memory_bytes is 536,870,912 (512 MiB)"),
        ("spin", "worker_ended", "ended by signal SIGXCPU (limits.handler_cpu_seconds is 1)"),
    ],
)
async def test_a_worker_that_ends_costs_its_call_alone_and_the_error_says_how_it_ended(
    tmp_path: Path, how: str, code: str, said: str
) -> None:
    limits = {"handler_memory_bytes": 512 << 20, "handler_cpu_seconds": 1}
    async with served(config(tmp_path, limits=limits)) as runtime:
        result = await runtime.execute("outcome", {"how": how}, LOCAL)
        assert (result.success, result.error_code) == (False, code)
        assert said in result.error
        assert (await runtime.execute("pid", {}, LOCAL)).success


async def test_a_worker_reads_nothing_and_writes_nothing_but_what_it_answers(tmp_path: Path) -> None:
    async with served(config(tmp_path)) as runtime:
        assert (await runtime.execute("outcome", {"how": "garbage"}, LOCAL)).result == ""
        assert (await runtime.execute("pid", {}, LOCAL)).result["calls"] == 1


@pytest.mark.parametrize("how", ["service", "services"])
async def test_a_handler_that_looks_for_a_service_is_told_that_it_runs_apart(
    tmp_path: Path, how: str
) -> None:
    async with served(config(tmp_path)) as runtime:
        result = await runtime.execute("outcome", {"how": how}, LOCAL)
    assert result.error_code == "service_not_available"
    assert "isolation: thread" in result.user_action


def _telling() -> dict[str, Any]:
    return entry("told", "isolated_context", isolation="process", options={"unit": "km"})


async def test_a_handler_apart_talks_to_its_client_calls_tools_and_knows_its_call(tmp_path: Path) -> None:
    client = FakeClient({"elicitation": {"action": "accept", "content": {"name": "Ada"}}})
    async with served(config(tmp_path, _telling())) as runtime:
        before = runtime.changes.version
        result = await runtime.execute("told", {"a": 1}, Context(LOCAL, meta={"m": 1}, client=client))
        assert runtime.changes.version == before + 1
    told = result.result
    assert told.pop("inner")["calls"] == 1
    assert told == {
        "tool": "told",
        "unit": "km",
        "meta": {"m": 1},
        "folder": str(tmp_path),
        "accepts": [True, False],
        "answer": {"name": "Ada"},
        "arguments": {"a": 1},
    }
    assert client.heard == [("progress", 1, 2, "half"), ("log", "info", {"a": 1})]
    assert client.memory == {"seen": [1]}


async def test_a_question_that_needs_another_round_ends_the_call_and_keeps_its_memory(tmp_path: Path) -> None:
    client = ReturningClient({"elicitation": {"action": "accept", "content": {"name": "Ada"}}})
    async with served(config(tmp_path, _telling())) as runtime:
        with pytest.raises(InputRequired) as needed:
            await runtime.execute("told", {}, Context(LOCAL, client=client))
        assert client.memory == {"seen": [1]}
        again = client.come_back(needed.value)
        result = await runtime.execute("told", {}, Context(LOCAL, client=again))
    assert result.result["answer"] == {"name": "Ada"}


async def test_a_worker_gets_the_environment_but_for_the_servers_own_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOLATED_TOKEN", "t" * 40)
    monkeypatch.setenv("ISOLATED_STATE", "s" * 40)
    monkeypatch.setenv("ISOLATED_OWN", "a key of the handler's")
    auth = {
        "auth": {"tokens": [{"name": "a", "token": "${ISOLATED_TOKEN}"}]},
        "request_state_key": "${ISOLATED_STATE}",
    }
    async with served(config(tmp_path, **auth)) as runtime:
        found = (await runtime.execute("environment", {}, LOCAL)).result
    assert set(found) == {"ISOLATED_OWN"}
