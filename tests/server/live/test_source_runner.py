"""Tools that come from sources: when they are there, whose they are, and what a broken source costs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from typing_extensions import override

from tests.support.served import INITIALIZE
from tests.support.sources import Held, HeldConfig, config_of, mock
from tests.support.two_ways import served
from tests.support.waiting import BOUND_S
from toolspan_server import running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.common.changes import Change
from toolspan_server.live.runtime import Runtime
from toolspan_server.live.views import ServerView

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.4")]


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(BOUND_S):
        while not condition():  # many things may make it true
            await anyio.lowlevel.checkpoint()


async def begun(config: HeldConfig) -> Held:
    held = config.built[0]
    with anyio.fail_after(BOUND_S):
        await held.started.wait()
    return held


def names(runtime: Runtime) -> list[str]:
    return [each.name for each in runtime.registry]


async def test_offered_tools_follow_the_configs_own_and_are_called_like_them() -> None:
    source = HeldConfig()
    async with running(config_of(mock("own"), sources=[source])) as runtime:
        (await begun(source)).offers(mock("offered", "from the source"))
        await runtime.settled()
        assert names(runtime) == ["own", "offered"]
        assert (await runtime.execute("offered", None, LOCAL)).result == "from the source"


@pytest.mark.parametrize("first", [0, 1])
async def test_a_name_that_is_taken_is_left_out_and_both_origins_are_named_whoever_offers_first(
    first: int, caplog: pytest.LogCaptureFixture
) -> None:
    sources = [HeldConfig(label="1"), HeldConfig(label="2")]
    offers = [(mock("OWN"), mock("shared")), (mock("shared"), mock("free"))]
    async with running(config_of(mock("own"), sources=sources)) as runtime:
        for place in (first, 1 - first):
            (await begun(sources[place])).offers(*offers[place])
            await runtime.snapshot.source_runners[place].offered.wait()
        await runtime.settled()
        assert names(runtime) == ["own", "shared", "free"]
        assert "'OWN' of tools.sources[0] (held) is left out: the config's registry has" in caplog.text
        assert "'shared' of tools.sources[1] (held) is left out: tools.sources[0] has" in caplog.text


async def test_another_offer_replaces_the_one_before_and_is_told_when_the_list_differs() -> None:
    source = HeldConfig()
    async with running(config_of(sources=[source])) as runtime:
        changes: list[Change] = []
        held = await begun(source)
        held.offers(mock("a"))
        await runtime.settled()
        runtime.changes.subscribe(changes.append)
        version = runtime.changes.version
        held.offers(mock("a", "says something else"))
        await until(lambda: runtime.changes.version > version)
        assert changes == []
        held.offers(mock("b"))
        await until(lambda: bool(changes))
        assert (names(runtime), changes) == (["b"], [Change("tools")])


async def test_a_source_that_crashes_is_started_again_and_keeps_what_it_offered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("toolspan_server.live.source_runner._FIRST_DELAY_S", 0.0)
    source = HeldConfig()
    async with running(config_of(mock("own"), sources=[source])) as runtime:
        held = await begun(source)
        held.offers(mock("offered"))
        await runtime.settled()
        held.fails.set()
        await until(lambda: held.runs == 2)
        assert names(runtime) == ["own", "offered"]
        assert "LookupError: the source broke" in caplog.text
        assert runtime.health()["sources"][0]["state"] == "failed"
        held.offers(mock("offered"))
        await until(lambda: runtime.health()["status"] == "ok")


async def test_a_tool_that_cannot_be_made_costs_none_of_its_neighbours(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = HeldConfig()
    async with running(config_of(sources=[source])) as runtime:
        held = await begun(source)
        broken = mock("broken") | {"implementation": {"type": "builtin", "handler": "echo"}}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("toolspan_server.tools.kinds.builtin.Config.build", _raise)
            held.offers(mock("before"), broken, mock("after"))
            await runtime.settled()
        assert names(runtime) == ["before", "after"]
        assert "'broken' of a source (held) is left out" in caplog.text


def _raise(*_: Any) -> Any:
    raise ValueError("cannot be built")


class Watched(ServerView):
    """Tells when somebody waits for the sources."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.waiting = 0

    @override
    async def settled(self) -> None:
        self.waiting += 1
        await super().settled()


async def test_the_first_list_waits_for_the_sources_and_the_handshake_does_not() -> None:
    source = HeldConfig()
    config = config_of(mock("own", 1), sources=[source])
    async with running(config) as runtime, anyio.create_task_group() as group:
        view = Watched(runtime)
        answers: list[Any] = []
        opened, called = await served(view, INITIALIZE, _call(1, "own"))
        assert opened["result"]["serverInfo"]["name"] == "toolspan"
        assert called["result"]["structuredContent"] == {"result": 1}
        assert (view.waiting, view.is_settled) == (0, False)

        async def client() -> None:
            answers.extend(await served(view, INITIALIZE, _list(2), _call(3, "offered")))

        group.start_soon(client)
        with anyio.move_on_after(BOUND_S):
            while view.waiting < 2:
                await anyio.lowlevel.checkpoint()
        (await begun(source)).offers(mock("offered", "late"))
        await until(lambda: len(answers) == 3)
        assert view.waiting == 2
    by_id = {each["id"]: each["result"] for each in answers}
    assert [each["name"] for each in by_id[2]["tools"]] == ["own", "offered"]
    assert by_id[3]["content"][0]["text"] == "late"


async def test_a_source_that_stays_silent_holds_the_first_list_only_for_the_limit() -> None:
    limits = {"upstream_connect_seconds": 0.02}
    async with running(config_of(mock("own"), sources=[HeldConfig()], limits=limits)) as runtime:
        with anyio.fail_after(BOUND_S):
            await runtime.settled()
        assert names(runtime) == ["own"]


async def test_no_source_works_while_tools_are_not_enabled() -> None:
    source = HeldConfig()
    config = config_of(sources=[source])
    off = config.model_copy(update={"tools": config.tools.model_copy(update={"enabled": False})})
    async with running(off):
        assert source.built == []


async def test_a_toolset_says_what_no_tool_matches_once_all_are_known(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    source = HeldConfig()
    toolsets = {"some": {"tools": ["own", "offered", "gone_*"], "tags": ["t"], "exclude": ["nobody"]}}
    async with running(config_of(mock("own"), sources=[source], toolsets=toolsets)) as runtime:
        assert caplog.text == ""
        (await begun(source)).offers(mock("offered"))
        await runtime.settled()
        assert "toolset 'some': no tool matches 'gone_*', 'nobody', the tag 't'" in caplog.text


def _list(request_id: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/list"}


def _call(request_id: int, name: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": {"name": name}}
