"""Calls of upstreams' tools: what goes there, what comes back, and what happens when nothing does."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from tests.support.mcp_peers import answers
from tests.support.served import http_server, write_config
from tests.support.upstreams import BOUND_S, SERVERS, FakeClient, raw, served, talker, until
from toolspan_server import load_config, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.context import Context
from toolspan_server.live.runtime import Runtime

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.4", "I4.4.1")]

CONFIGS = Path(__file__).parents[4] / "configs"
BOTH = {"old": talker("old"), "new": talker("new")}
SOURCES = [{"upstream": name, "prefix": f"{name}."} for name in BOTH]
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def states(runtime: Runtime) -> dict[str, str]:
    return {each["name"]: each["state"] for each in runtime.health()["sources"]}


@pytest.mark.parametrize("era", BOTH)
async def test_a_result_comes_through_whole_but_for_what_the_protocol_reserves(
    tmp_path: Path, era: str
) -> None:
    async with served(tmp_path, {era: BOTH[era]}) as runtime:
        result = await runtime.execute("blocks", None, LOCAL)
        assert result.success and result.result == {"dots": 1}
        assert result.content == (
            {"type": "text", "text": "a dot"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png", "annotations": {"priority": 1}},
        )
        assert result.meta == {"example.com/mine": 1}


async def test_a_failure_names_the_upstream_and_shows_no_secret(tmp_path: Path) -> None:
    upstream = talker("old", env={"MY_KEY": "hunter2hunter2"})
    async with served(tmp_path, {"talker": upstream}) as runtime:
        failed = await runtime.execute("fails", None, LOCAL)
        assert (failed.error, failed.error_code) == (
            "Upstream 'talker': no such thing as ***",
            "upstream_error",
        )
        assert failed.content == ({"type": "text", "text": "no such thing as ***"},)
        broken = await runtime.execute("broken", None, LOCAL)
        assert broken.error == "Upstream 'talker': refused the call: bad key ***"


@pytest.mark.parametrize("era", BOTH)
async def test_progress_and_log_messages_reach_the_client_in_order(tmp_path: Path, era: str) -> None:
    async with served(tmp_path, {era: BOTH[era]}) as runtime:
        client = FakeClient()
        context = Context(LOCAL, client=client, meta={"progressToken": 7})
        assert (await runtime.execute("report", {"logs": 2}, context)).success
        assert client.heard == [
            ("progress", 1, 2, "step 1"),
            ("progress", 2, 2, "step 2"),
            ("log", "info", "working 0"),
            ("log", "info", "working 1"),
        ]


@pytest.mark.requirement("I26.2.1")
async def test_half_a_character_costs_itself_alone(tmp_path: Path) -> None:
    async with served(tmp_path, {"raw": raw()}) as runtime:
        assert (await runtime.execute("surrogate", {}, LOCAL)).result == "\ufffd"


@pytest.mark.long
async def test_a_flood_of_messages_is_bounded_and_the_call_ends(tmp_path: Path) -> None:
    async with served(tmp_path, {"raw": raw()}) as runtime:
        client = FakeClient()
        result = await runtime.execute("flood", {}, Context(LOCAL, client=client))
        assert result.result == "after the flood"
        assert client.heard[-1] == ("log", "info", 19_999)


@pytest.mark.parametrize("era", BOTH)
async def test_the_upstream_is_told_no_more_of_the_client_than_concerns_it(tmp_path: Path, era: str) -> None:
    meta = {"traceparent": TRACE, "example.com/session": "secret", "io.modelcontextprotocol/other": 1}
    async with served(tmp_path, {era: BOTH[era]}) as runtime:
        client = FakeClient({"elicitation": {}, "sampling": {}})
        told = (await runtime.execute("told", {}, Context(LOCAL, client=client, meta=meta))).result
        told = __import__("json").loads(told)
        assert told["meta"]["traceparent"] == TRACE
        assert not {"example.com/session", "io.modelcontextprotocol/other", "progressToken"} & set(
            told["meta"]
        )
        declared = told["capabilities"] or told["meta"]["io.modelcontextprotocol/clientCapabilities"]
        assert declared == {"elicitation": {"form": {}}}


@pytest.mark.parametrize("era", BOTH)
async def test_cancelling_a_call_cancels_it_at_the_upstream(tmp_path: Path, era: str) -> None:
    note = tmp_path / "note"
    async with served(tmp_path, {era: BOTH[era]}) as runtime:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(runtime.execute, "hang", {"note": str(note)}, LOCAL)
            await until(Path(f"{note}.started").exists)
            tasks.cancel_scope.cancel()
        await until(lambda: note.exists() and note.read_text() == "cancelled")


async def test_a_call_that_takes_too_long_is_cancelled_at_the_upstream(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with served(tmp_path, {"talker": talker("old")}, default_timeout_ms=300) as runtime:
        hung = await runtime.execute("hang", {"note": str(note)}, LOCAL)
        assert hung.error_code == "timeout"
        await until(lambda: note.exists() and note.read_text() == "cancelled")


async def test_an_upstream_that_dies_costs_that_call_and_is_started_again(tmp_path: Path) -> None:
    async with served(tmp_path, {"raw": raw(), "other": talker("old")}) as runtime:
        died = await runtime.execute("die", None, LOCAL)
        assert died.error_code == "upstream_unavailable"
        assert "it exited with status 7 (it last said: out of luck)" in died.error
        assert (await runtime.execute("search", {"query": "a", "owner": "b"}, LOCAL)).success
        assert (await runtime.execute("echo", {}, LOCAL)).success
        assert states(runtime) == {"raw": "ready", "other": "ready"}


@pytest.mark.parametrize("tool", ["bad_utf8", "huge", "no_result"])
async def test_an_answer_that_cannot_be_used_fails_its_call_only(tmp_path: Path, tool: str) -> None:
    async with served(tmp_path, {"raw": raw()}, {"upstream": "raw", "include": [tool, "echo"]}) as runtime:
        failed = await runtime.execute(tool, None, LOCAL)
        assert not failed.success and failed.error.startswith("Upstream 'raw': ")
        assert (await runtime.execute("echo", {}, LOCAL)).success


@pytest.mark.requirement("I9.1.1")
@pytest.mark.parametrize("error", [False, True])
async def test_a_flood_of_blocks_is_sent_as_far_as_it_fits(tmp_path: Path, error: bool) -> None:
    async with served(tmp_path, {"raw": raw()}, {"upstream": "raw", "include": ["blocks"]}) as runtime:
        result = await runtime.execute("blocks", {"count": 30_000, "error": error}, LOCAL)
        assert result.success is not error
        last = result.error if error else (result.content or ())[-1]["text"]
        assert "more" in last and "left out here" in last


async def test_upstreams_that_are_not_there_cost_only_their_own_tools(tmp_path: Path) -> None:
    with answers() as address:
        upstreams = {
            "good": raw(),
            "dies": raw("dies", env={"MY_KEY": "hunter2hunter2"}),
            "silent": raw("silent", connect_seconds=0.5),
            "missing": {"command": "no-such-program-anywhere"},
            "denied": {"url": f"{address}/401", "headers": {"Authorization": "Bearer hunter2hunter2"}},
            "elsewhere": {"url": f"{address}/elsewhere"},
            "off": {"command": "no-such-program-anywhere", "disabled": True},
        }
        async with served(tmp_path, upstreams) as runtime:
            assert (await runtime.execute("echo", {}, LOCAL)).success
            said = {each["name"]: each for each in runtime.health()["sources"]}
    assert said["good"]["state"] == "ready" and said["off"]["state"] == "disabled"
    failed = {name: each["error"] for name, each in said.items() if each["state"] == "failed"}
    assert failed.keys() == {"dies", "silent", "missing", "denied", "elsewhere"}
    assert failed["dies"] == "it exited with status 3 before it answered"
    assert "answered HTTP 401" in failed["denied"] and "not followed" in failed["elsewhere"]
    assert "no answer within 0.5 s" in failed["silent"] and "was not found" in failed["missing"]
    assert "hunter2" not in str(said)


@pytest.mark.long
async def test_an_upstream_that_comes_later_is_found(tmp_path: Path) -> None:
    script = tmp_path / "later.py"
    upstream = {**talker("old"), "args": [str(script), "old"]}
    async with served(tmp_path, {"later": upstream}) as runtime:
        assert states(runtime) == {"later": "failed"} and not list(runtime.registry)
        script.symlink_to(SERVERS / "talker.py")
        await until(lambda: states(runtime) == {"later": "ready"})
        await until(lambda: runtime.registry.get("search"))


async def test_our_own_server_is_an_upstream_over_http_that_may_be_killed_and_come_back(
    tmp_path: Path,
) -> None:
    inner = write_config(tmp_path, name="inner")
    with http_server(inner) as first:
        port = first.address[1]
        upstream = {"url": f"{first.url}/mcp"}
        folder = tmp_path / "outer"
        folder.mkdir()
        async with served(folder, {"inner": upstream}) as runtime:
            weather = await runtime.execute("weather", {"location": "Paris"}, LOCAL)
            assert weather.result == {"temperature": 22, "condition": "sunny"}
            os.kill(first.process.pid, signal.SIGKILL)
            first.process.wait()
            lost = await runtime.execute("weather", {"location": "Paris"}, LOCAL)
            assert lost.error_code in ("upstream_unavailable", "upstream_error")
            with http_server(inner, "--port", str(port)):
                await until(lambda: states(runtime) == {"inner": "ready"})
                assert (await runtime.execute("weather", {"location": "Paris"}, LOCAL)).success


@pytest.mark.long
async def test_the_example_config_serves_a_program_started_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    config = load_config(CONFIGS / "upstream.yaml", environ={})
    with anyio.fail_after(BOUND_S):
        async with running(config) as runtime:
            await runtime.settled()
            names = [tool.name for tool in runtime.registry]
            times = ["desk.now", "desk.add_to_time", "desk.format_time"]
            assert names == ["vat", "desk.calculate", *times]
            assert (await runtime.execute("vat", {"expression": "20 * 1.2"}, LOCAL)).success
            assert states(runtime) == {"utilities": "ready"}
