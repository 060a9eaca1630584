"""What an operator of several workers is told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.executors import tool
from toolspan_server import Config
from toolspan_server.live.worker_limits import kept_apart


def mock(name: str, **implementation: Any) -> dict[str, Any]:
    return tool(name, {"type": "mock", **implementation})


def lines(*tools: dict[str, Any], **more: Any) -> list[str]:
    return list(kept_apart(Config.model_validate({"tools": {"registry": tools, **more}})))


def test_tools_that_keep_nothing_between_calls_need_no_warning() -> None:
    assert lines(mock("plain", rules=[{"when": {"x": 1}, "response": 1}], response=2)) == []


def test_tasks_rates_and_turns_are_named_with_their_tools() -> None:
    turns = [
        mock("by_rule", rules=[{"when": {"x": 1}, "sequence": [{"response": 1}]}]),
        mock("drawn", random={"choices": [{"response": 1}]}),
        mock("failing", response=1, fail_every=2),
        mock("more", sequence=[{"response": 1}]),
    ]
    slow = {**mock("slow"), "task": {}}
    often = {**mock("often"), "rate_limit": {"calls": 1}}
    tasks, rates, counts = lines(slow, often, *turns)
    assert "(slow)" in tasks
    assert "(often)" in rates
    assert counts.endswith("(by_rule, drawn, failing and 1 more)")


def test_tools_that_are_not_served_are_not_named() -> None:
    assert lines({**mock("slow"), "task": {}}, enabled=False) == []


@pytest.mark.requirement("I15.4.45")
def test_tasks_of_servers_of_an_aggregate_are_named() -> None:
    (tasks,) = kept_apart(Config.model_validate({"aggregate": True, "mcpServers": {"a": {"command": "a"}}}))
    assert "server of the aggregate" in tasks
