"""Limits on concurrent calls per target and per kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from tests.support.executors import builtin, executor_of, tool
from tests.support.waiting import BOUND_S
from toolspan_server import Context, Executor, handler
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.results import ToolResult
from toolspan_server.tools.executor import ConcurrencyLimits

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I9.2.10")]
_gates: dict[str, anyio.Event] = {}
_inside: dict[str, int] = {}
_most: dict[str, int] = {}


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    yield
    for each in (_gates, _inside, _most):
        each.clear()


async def _hang(name: str) -> str:
    _inside[name] = _inside.get(name, 0) + 1
    _most[name] = max(_most.get(name, 0), _inside[name])
    try:
        await _gates.setdefault(name, anyio.Event()).wait()
    finally:
        _inside[name] -= 1
    return name


@handler("shares_one")
async def one(_arguments: dict[str, Any], _context: Context) -> str:
    return await _hang("one")


@handler("shares_two")
async def two(_arguments: dict[str, Any], _context: Context) -> str:
    return await _hang("two")


@handler("shares_nested")
async def nested(arguments: dict[str, Any], context: Context) -> Any:
    """Call ourselves ``deep`` more times."""
    if not arguments["deep"]:
        return "ground"
    return (await context.call("nested", {"deep": arguments["deep"] - 1})).result


class Seat:
    """Counts how often its place was left."""

    refuses = True

    def __init__(self) -> None:
        self.away = 0
        self.most_away = 0
        self.free = anyio.Event()
        self.free.set()

    def leave(self) -> None:
        self.away += 1
        self.most_away = max(self.most_away, self.away)

    def enter(self) -> None:
        self.away -= 1

    async def ready(self) -> None:
        await self.free.wait()


def served(*tools: dict[str, Any], **limits: int) -> tuple[Executor, Seat]:
    """An executor whose calls have a place."""
    executor, seat = executor_of(*tools, concurrency_limits=ConcurrencyLimits(**limits)), Seat()
    executor.call_slot = seat
    return executor, seat


async def until(condition: Any) -> None:
    with anyio.fail_after(BOUND_S):
        while not condition():  # noqa: ASYNC110 - what is waited for are other tasks
            await anyio.sleep(0.005)


class Calls:
    """Calls that run in a task group, and their results."""

    def __init__(self, executor: Executor, group: anyio.abc.TaskGroup) -> None:
        self.results: list[ToolResult] = []
        self._executor = executor
        self._group = group

    def begin(self, name: str, count: int = 1, **arguments: Any) -> None:
        for _ in range(count):
            self._group.start_soon(self._make, name, arguments)

    async def _make(self, name: str, arguments: dict[str, Any]) -> None:
        self.results.append(await self._executor.execute(name, arguments, LOCAL))


async def test_a_handler_that_hangs_runs_so_often_at_once_and_the_rest_leaves_its_place_to_others() -> None:
    executor, seat = served(builtin("one", "shares_one"), builtin("two", "shares_two"), per_target=2)
    async with anyio.create_task_group() as group:
        calls = Calls(executor, group)
        calls.begin("one", 5)
        await until(lambda: seat.away == 3)
        assert _inside == {"one": 2}
        calls.begin("two")
        await until(lambda: _inside.get("two") == 1)
        _gates["one"].set()
        _gates["two"].set()
    assert [result.result for result in calls.results].count("one") == 5
    assert (_most["one"], seat.away) == (2, 0)


async def test_all_of_a_kind_have_a_share_too() -> None:
    names = ("one", "two")
    tools = [builtin(name, f"shares_{name}") for name in names]
    executor, seat = served(*tools, tool("echo", {"type": "mock"}), per_target=2, per_kind=3)
    async with anyio.create_task_group() as group:
        calls = Calls(executor, group)
        for name in names:
            calls.begin(name, 2)
        await until(lambda: seat.away == 1)
        assert sum(_inside.values()) == 3
        assert (await executor.execute("echo", None, LOCAL)).success
        for name in names:
            _gates.setdefault(name, anyio.Event()).set()
    assert len(calls.results) == 4


async def test_one_call_too_many_is_refused_with_the_names_of_the_limits() -> None:
    executor, seat = served(builtin("one", "shares_one"), per_target=1, queued=2)
    async with anyio.create_task_group() as group:
        Calls(executor, group).begin("one", 3)
        await until(lambda: seat.away == 2)
        refused = await executor.execute("one", None, LOCAL)
        _gates["one"].set()
    assert refused.error_code == "busy"
    assert refused.error == (
        "Too many calls of handler 'shares_one': 1 run and 2 wait "
        "(limits.concurrent_calls_per_target, limits.queued_calls_per_target)"
    )


async def test_a_call_whose_time_is_over_in_line_names_the_limit_and_gives_up_its_turn() -> None:
    executor, seat = served(
        builtin("one", "shares_one"), builtin("late", "shares_one", timeout_ms=20), per_target=1
    )
    async with anyio.create_task_group() as group:
        calls = Calls(executor, group)
        calls.begin("one")
        await until(lambda: _inside == {"one": 1})
        late = await executor.execute("late", None, LOCAL)
        calls.begin("one")
        await until(lambda: seat.away == 1)
        _gates["one"].set()
    assert late.error_code == "timeout"
    assert "after 20ms: it waited for its turn among the calls of handler 'shares_one'" in late.error
    assert "limits.concurrent_calls_per_target" in late.error
    assert [result.success for result in calls.results] == [True, True]


async def test_calls_that_are_cancelled_in_line_or_at_work_give_their_room_back() -> None:
    executor, seat = served(builtin("one", "shares_one"), per_target=1)
    async with anyio.create_task_group() as group:
        Calls(executor, group).begin("one", 4)
        await until(lambda: seat.away == 3)
        group.cancel_scope.cancel()
    assert seat.away == 0
    _gates["one"].set()
    assert (await executor.execute("one", None, LOCAL)).success


async def test_a_call_whose_turn_has_come_waits_for_a_client_that_takes_no_answers() -> None:
    executor, seat = served(builtin("one", "shares_one"), per_target=1)
    async with anyio.create_task_group() as group:
        calls = Calls(executor, group)
        calls.begin("one", 2)
        await until(lambda: seat.away == 1)
        seat.free = anyio.Event()
        _gates["one"].set()
        await until(lambda: len(calls.results) == 1)
        assert seat.away == 1
        seat.free.set()
    assert (len(calls.results), seat.away) == (2, 0)


async def test_a_handler_that_calls_itself_does_not_wait_for_its_own_room() -> None:
    executor, _seat = served(builtin("nested", "shares_nested"), per_target=1, per_kind=1)
    assert (await executor.execute("nested", {"deep": 5}, LOCAL)).result == "ground"


async def test_a_pipeline_leaves_its_place_once_however_many_of_its_steps_wait() -> None:
    steps = [{"id": "all", "tool": "one", "for_each": "{{ items }}", "concurrency": 5}]
    executor, seat = served(
        builtin("one", "shares_one"), tool("line", {"type": "pipeline", "steps": steps}), per_target=1
    )
    async with anyio.create_task_group() as group:
        calls = Calls(executor, group)
        calls.begin("line", items=[1, 2, 3, 4, 5])
        await until(lambda: seat.away == 1 and _inside == {"one": 1})
        _gates["one"].set()
    assert calls.results[0].result == ["one"] * 5
    assert (seat.most_away, seat.away) == (1, 0)


@pytest.mark.parametrize(
    ("implementation", "target"),
    [
        ({"type": "mock"}, None),
        ({"type": "builtin", "handler": "echo"}, None),
        ({"type": "builtin", "handler": "shares_one"}, "handler 'shares_one'"),
        ({"type": "mcp", "upstream": "files", "tool": "read"}, "upstream 'files'"),
        ({"type": "http", "url": "https://api.example.com:8443/{id}"}, "web host 'api.example.com'"),
        ({"type": "internal", "handler": "rag_query"}, "the document collections"),
        (
            {
                "type": "internal",
                "handler": "sql_query",
                "options": {"database": "sales", "statement": "SELECT 1"},
            },
            "database 'sales'",
        ),
    ],
)
async def test_what_a_tool_depends_on_is_known(implementation: dict[str, Any], target: str | None) -> None:
    found = executor_of(tool("each", implementation)).registry.get("each")
    assert found is not None
    assert found.config.implementation.target() == target
