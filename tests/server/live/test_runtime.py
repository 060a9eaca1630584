"""A config takes another one's place while calls run, and what both have in common goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest

from tests.support.executors import tool
from tests.support.sources import Gate, GateConfig, Held, HeldConfig, config_of, mock
from tests.support.waiting import BOUND_S
from toolspan_server import Config, ConfigError, load_config, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.common.changes import Change
from toolspan_server.config import Problem
from toolspan_server.live.runtime import Runtime

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.3.2")]


def gate(label: str) -> dict[str, Any]:
    return tool("gate", cast("Any", GateConfig(label=label)))


def kind_of(runtime: Runtime, name: str) -> Any:
    found = runtime.registry.get(name)
    assert found is not None
    return found.kind


def heard(runtime: Runtime) -> list[Change]:
    changes: list[Change] = []
    runtime.changes.subscribe(changes.append)
    return changes


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(BOUND_S):
        while not condition():  # many things may make it true
            await anyio.lowlevel.checkpoint()


async def test_a_call_ends_in_the_config_that_it_began_in() -> None:
    async with running(config_of(gate("old"))) as runtime, anyio.create_task_group() as group:
        results: list[Any] = []

        async def call() -> None:
            results.append((await runtime.execute("gate", None, LOCAL)).result)

        old: Gate = kind_of(runtime, "gate")
        group.start_soon(call)
        await old.entered.wait()
        await runtime.replace(config_of(gate("new")))
        new: Gate = kind_of(runtime, "gate")
        new.open.set()
        await call()
        assert results == ["new"]
        old.open.set()
        await until(lambda: results == ["new", "old"])


async def test_how_often_a_tool_ran_counts_on_unless_its_limit_is_another() -> None:
    def limited(description: str, calls: int) -> Config:
        limit = {"calls": calls, "per_ms": 3_600_000}
        return config_of({**tool("rare", {"type": "mock"}, rate_limit=limit), "description": description})

    async with running(limited("Once.", 1)) as runtime:
        assert (await runtime.execute("rare", None, LOCAL)).success
        for config in (limited("Once.", 1), limited("Once an hour.", 1)):
            await runtime.replace(config)
            assert (await runtime.execute("rare", None, LOCAL)).error_code == "rate_limited"
        await runtime.replace(limited("Twice.", 2))
        assert (await runtime.execute("rare", None, LOCAL)).success


async def test_what_only_the_old_config_had_stops_when_its_last_call_has_ended() -> None:
    source = HeldConfig()
    async with running(config_of(gate("old"), sources=[source])) as runtime:
        async with anyio.create_task_group() as group:
            [held] = source.built
            await held.started.wait()
            held.offers()
            old: Gate = kind_of(runtime, "gate")
            group.start_soon(runtime.execute, "gate", None, LOCAL)
            await old.entered.wait()
            await runtime.replace(config_of())
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            assert held.ended == 0
            old.open.set()
        await until(lambda: held.ended == 1)


async def test_a_call_that_never_ends_holds_the_old_config_only_for_so_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("toolspan_server.live.runtime._BEYOND_TIMEOUTS_S", 0)
    source = HeldConfig()
    async with running(config_of(gate("old") | {"timeout_ms": 20}, sources=[source])) as runtime:
        [held] = source.built
        await held.started.wait()
        held.offers()
        runtime.snapshot.calls += 1
        await runtime.replace(config_of())
        await until(lambda: held.ended == 1)


async def test_tools_sources_and_services_that_say_the_same_go_on_as_they_are(tmp_path: Path) -> None:
    source = HeldConfig(label="same")
    services = {"collections": {"docs": {"path": str(tmp_path)}}}
    first = config_of(gate("same"), mock("changed", 1), sources=[source], services=services)
    async with running(first) as runtime:
        await source.built[0].started.wait()
        source.built[0].offers(mock("offered"))
        await runtime.settled()
        kinds = kind_of(runtime, "gate"), kind_of(runtime, "changed"), kind_of(runtime, "offered")
        collections = runtime.snapshot.services["collections"]
        second = config_of(mock("changed", True), gate("same"), sources=[source], services=services)
        await runtime.replace(second)
        assert kind_of(runtime, "gate") is kinds[0]
        assert kind_of(runtime, "changed") is not kinds[1]
        assert kind_of(runtime, "offered") is kinds[2]
        assert runtime.snapshot.services["collections"] is collections
        assert (await runtime.execute("changed", None, LOCAL)).result is True
        assert (len(source.built), source.built[0].runs, source.built[0].ended) == (1, 1, 0)


async def test_a_source_offers_to_the_config_that_is_served_now() -> None:
    source = HeldConfig()
    async with running(config_of(sources=[source])) as runtime:
        await source.built[0].started.wait()
        source.built[0].offers(mock("one"))
        await runtime.settled()
        silent, limits = HeldConfig(label="silent"), {"upstream_connect_seconds": 0.01}
        await runtime.replace(config_of(mock("own"), sources=[silent, source], limits=limits))
        source.built[0].offers(mock("two"))
        await until(lambda: [each.name for each in runtime.registry] == ["own", "two"])


async def test_the_tools_of_a_new_source_are_there_when_its_config_is() -> None:
    source = HeldConfig()
    async with running(config_of(mock("own"))) as runtime, anyio.create_task_group() as group:
        group.start_soon(runtime.replace, config_of(sources=[source]))
        await until(lambda: bool(source.built))
        held: Held = source.built[0]
        await held.started.wait()
        assert runtime.registry.get("own") is not None
        held.offers(mock("offered"))
        await until(lambda: runtime.snapshot.number == 2)
        assert [each.name for each in runtime.registry] == ["offered"]


async def test_exactly_the_lists_that_differ_are_told() -> None:
    async with running(config_of(mock("a", 1), mock("b"))) as runtime:
        changes = heard(runtime)
        version = runtime.changes.version
        await runtime.replace(config_of(mock("a", 2), mock("b")))
        assert (changes, runtime.changes.version > version) == ([], True)
        await runtime.replace(config_of(mock("b"), mock("a", 2)))
        await runtime.replace(config_of(mock("b"), mock("a", 2) | {"description": "Another."}))
        await runtime.replace(
            config_of(
                mock("b"), mock("a", 2) | {"description": "Another."}, toolsets={"some": {"tools": ["a"]}}
            )
        )
        assert changes == [Change("tools")] * 3
        some = {"some": {"tools": ["a"], "instructions": "Only a."}}
        await runtime.replace(config_of(mock("b"), mock("a", 2) | {"description": "Another."}, toolsets=some))
        assert changes == [Change("tools")] * 3


async def test_a_config_that_cannot_start_leaves_the_old_one_as_it_was() -> None:
    class Broken(GateConfig):
        def build(self, environment: Any) -> Any:
            raise RuntimeError("cannot be built")

    async with running(config_of(gate("old"))) as runtime:
        before = runtime.snapshot
        with pytest.raises(RuntimeError, match="cannot be built"):
            await runtime.replace(config_of(tool("broken", cast("Any", Broken()))))
        assert runtime.snapshot is before
        assert runtime.changes.version == 0


async def test_whoever_follows_may_refuse_a_config_and_acts_only_when_it_is_served() -> None:
    served: list[str] = []

    def follower(config: Config) -> Callable[[], None]:
        if config.instructions == "refused":
            raise ConfigError([Problem("f", 1, 1, "$", "not this one")])
        return lambda: served.append(str(config.instructions))

    async with running(config_of()) as runtime:
        runtime.add_follower(follower)
        with pytest.raises(ConfigError, match="not this one"):
            await runtime.replace(config_of(instructions="refused"))
        await runtime.replace(config_of(instructions="good"))
        assert (served, runtime.snapshot.number) == (["good"], 2)


async def test_texts_are_without_the_secrets_of_every_config_in_use(tmp_path: Path) -> None:
    path = tmp_path / "toolspan.yaml"
    path.write_text("state_dir: .${ONE}\n")
    environ = {"ONE": "first-secret", "TWO": "second-secret"}
    async with running(load_config(path, environ=environ)) as runtime:
        assert runtime.redact("first-secret second-secret") == "*** second-secret"
        path.write_text("state_dir: .${TWO}\n")
        runtime.snapshot.calls += 1
        await runtime.replace(load_config(path, environ=environ))
        assert runtime.redact("first-secret second-secret") == "*** ***"


async def test_health_names_what_is_wrong_and_where() -> None:
    source = HeldConfig()
    async with running(config_of(sources=[source])) as runtime:
        await source.built[0].started.wait()
        source.built[0].offers(mock("a"))
        await runtime.settled()
        good = runtime.health()
        assert (good["status"], good["config"]["generation"], good["config"]["problems"]) == ("ok", 1, [])
        assert good["sources"] == [{"type": "held", "name": "held", "state": "ready", "tools": 1}]
        runtime.refuse(["f.yaml:1:1: broken"])
        assert runtime.health()["config"]["problems"] == ["f.yaml:1:1: broken"]
        assert runtime.health()["status"] == "degraded"
        await runtime.replace(config_of())
        assert runtime.health()["status"] == "ok"
        assert runtime.health()["config"]["generation"] == 2


async def test_health_tells_how_collections_do(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    collections = {"there": {"path": str(tmp_path / "there")}, "gone": {"path": str(tmp_path / "gone")}}
    async with running(config_of(services={"collections": collections}, state_dir=str(tmp_path))) as runtime:
        assert runtime.health()["services"]["collections"]["state"] == "waiting"
        live: Any = runtime.snapshot.services["collections"]
        for each in live.collections.values():
            await each.changed()
        told = runtime.health()["services"]["collections"]
        assert (told["state"], told["collections"]["there"]) == ("failed", {"state": "ready"})
        assert "does not exist" in told["collections"]["gone"]["error"]
