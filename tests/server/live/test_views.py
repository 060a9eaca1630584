"""A tool that a view has given out: what it runs once the config has changed, and what it never runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.sources import config_of, mock
from toolspan_server import running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.live.served_tool import ServedTool
from toolspan_server.live.views import ServerView, view_of

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I10.1.4")]

ONLY_A = {"one": {"tools": ["a"]}}


def found(view: ServerView, name: str) -> ServedTool:
    served = view.tool(name)
    assert served is not None
    return served


async def test_a_tool_is_looked_up_once_for_all_the_calls_of_a_config() -> None:
    async with running(config_of(mock("a", 1))) as runtime:
        view = view_of(runtime)
        assert found(view, "a") is found(view, "a")
        runtime.registry.get = None  # type: ignore[method-assign, assignment]
        assert (await found(view, "a").run({}, LOCAL)).result == 1


@pytest.mark.parametrize("toolset", [None, "one"])
async def test_a_tool_found_before_the_config_changed_is_the_new_one_when_it_runs(
    toolset: str | None,
) -> None:
    async with running(config_of(mock("a", 1), toolsets=ONLY_A)) as runtime:
        served = found(view_of(runtime, toolset), "a")
        await runtime.replace(config_of(mock("a", 2), toolsets=ONLY_A))
        assert (await served.run({}, LOCAL)).result == 2


@pytest.mark.parametrize(
    "changed",
    [
        config_of(mock("b", 2), toolsets=ONLY_A | {"one": {"tools": ["b"]}}),
        config_of(mock("a", 1), mock("b", 2), toolsets={"one": {"tools": ["b"]}}),
    ],
    ids=["gone from the config", "gone from the toolset"],
)
async def test_a_tool_that_a_toolset_no_longer_has_is_not_run(changed: Any) -> None:
    async with running(config_of(mock("a", 1), mock("b", 2), toolsets=ONLY_A)) as runtime:
        view = view_of(runtime, "one")
        served = found(view, "a")
        assert view.tool("b") is None
        await runtime.replace(changed)
        result = await served.run({}, LOCAL)
        assert (result.success, result.error_code, result.tool_name) == (False, "tool_not_found", "a")
        assert found(view, "b").tool.name == "b"


async def test_a_view_runs_nothing_but_what_it_has_given_out() -> None:
    assert not [name for name in vars(ServerView) if "execute" in name or name == "run"]
