"""What is held and kept for clients is bounded over all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.deaf import DeafClient
from tests.support.limited import alive
from tests.support.raw_http import RawClient, tool_call
from tests.support.served import call, http_server, until, write_config
from tests.support.waiting import BOUND_S
from toolspan_server.config import TaskConfig
from toolspan_server.errors import RequestRefused, ToolFailure
from toolspan_server.http_server.unread_bytes import UnreadBytes
from toolspan_server.protocol.state.retention import KeptEvents, KeptResults
from toolspan_server.protocol.state.task import Task
from toolspan_server.protocol.state.tasks import Tasks
from toolspan_server.protocol.state.waiting_calls import WaitingCalls

pytestmark = [pytest.mark.long, pytest.mark.anyio]


@dataclass(eq=False)
class Stream:
    """Something that holds bytes for a client."""

    held: int = 0
    ended: list[str] = field(default_factory=list[str])

    def let_go(self, why: str) -> None:
        self.ended.append(why)


@pytest.mark.requirement("I9.2.11")
def test_the_stream_that_holds_the_most_unread_bytes_ends_first() -> None:
    unread = UnreadBytes(100)
    small, large, last = Stream(10), Stream(60), Stream(40)
    unread.grew(small)
    unread.grew(large)
    assert not large.ended
    unread.grew(last)
    assert [len(each.ended) for each in (small, large, last)] == [0, 1, 0]
    assert "limits.unread_bytes" in large.ended[0]


@pytest.mark.requirement("I9.2.11")
def test_what_was_read_counts_no_more() -> None:
    unread = UnreadBytes(100)
    first, second = Stream(80), Stream(80)
    unread.grew(first)
    first.held = 0
    unread.grew(second)
    assert not (first.ended or second.ended)


@pytest.mark.requirement("I9.2.11")
def test_clients_that_do_not_read_large_answers_are_closed_at_the_limit_over_all(tmp_path: Path) -> None:
    limits = {"unread_bytes": 40_000_000, "result_bytes": 9_000_000, "write_seconds": 60}
    with http_server(write_config(tmp_path, "large", limits=limits)) as server:
        deaf = [RawClient(server.address, receive_buffer=4_096) for _ in range(6)]
        for client in deaf:
            client.send(tool_call("large", {"size": 8_000_000}))
        until(lambda: "(limits.unread_bytes)" in server.errors.text, "the end of a connection")
        assert alive(server)
        for client in deaf:
            client.close()


@pytest.mark.requirement("I9.2.11")
def test_streams_of_clients_that_do_not_read_end_at_the_limit_over_all(tmp_path: Path) -> None:
    limits = {"unread_bytes": 30_000_000, "result_bytes": 4_000_000, "write_seconds": 60, "idle_seconds": 60}
    with http_server(write_config(tmp_path, "large", limits=limits)) as server:
        deaf = [DeafClient(server.address) for _ in range(6)]
        for client in deaf:
            for number in range(7):
                client.post(call(number, "large", {"size": 1_000_000}))
        until(lambda: "(limits.unread_bytes)" in server.errors.text, "the end of a stream")
        assert alive(server)
        assert "Traceback" not in server.errors.text
        for client in deaf:
            client.close()


@pytest.mark.requirement("I9.2.11")
def test_a_session_of_http_sse_has_a_bounded_number_of_accepted_calls(tmp_path: Path) -> None:
    limits = {"idle_seconds": 60, "queued_calls_per_target": 1_000}
    config = write_config(tmp_path, "wait", timeout_ms=600_000, limits=limits)
    with http_server(config) as server, DeafClient(server.address) as client:
        waiting = [client.post(call(number, "wait", {"seconds": 600, "note": "n"})) for number in range(300)]
        taken = [answer.status for answer in waiting].count(202)
        assert 256 <= taken < 270
        assert "256 requests" in waiting[-1].message["error"]["message"]
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": 0}}
        assert client.post({"jsonrpc": "2.0", **cancelled}).status == 202
        for number in range(1, 20):
            cancelled["params"] = {"requestId": number}
            client.post({"jsonrpc": "2.0", **cancelled})
        ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
        until(lambda: client.post(ping).status == 202, "room for a request")


@pytest.mark.requirement("I9.2.11")
async def test_the_oldest_events_of_all_sessions_go_first_at_the_limit_over_all() -> None:
    from mcp_types import JSONRPCNotification

    from toolspan_server.protocol.sdk.event_store import Events

    kept = KeptEvents(3_000)
    old, new = Events(kept), Events(kept)
    message = JSONRPCNotification(jsonrpc="2.0", method="x" * 1_000)

    async def resumes(events: Events, event_id: str) -> bool:
        async def nothing(_: Any) -> None: ...

        return await events.replay_events_after(event_id, nothing) is not None

    first, second = [await old.store_event("s", message) for _ in range(2)]
    third = await new.store_event("s", message)
    assert [await resumes(old, first), await resumes(old, second)] == [False, True]
    new.close()
    await old.store_event("s", message)
    assert await resumes(old, second)
    assert not await resumes(new, third)


TASK = TaskConfig(ttl_ms=60_000, poll_interval_ms=100)


async def completed(tasks: Tasks, owner: str | None, size: int) -> Task:
    async def work() -> dict[str, Any]:
        return {"text": "x" * size}

    task = tasks.make(owner, TASK)
    task.start(work)
    await task.settled(BOUND_S)
    return task


@pytest.mark.requirement("I9.2.11")
async def test_the_oldest_result_goes_of_the_principal_that_has_the_most() -> None:
    tasks = Tasks(lambda: 100, KeptResults(3_500))
    modest = await completed(tasks, "modest", 1_000)
    greedy = [await completed(tasks, "greedy", 1_000) for _ in range(3)]
    assert tasks.find(modest.id, "modest") is modest
    with pytest.raises(RequestRefused, match=r"Task not found: .*limits\.task_bytes"):
        tasks.find(greedy[0].id, "greedy")
    with pytest.raises(RequestRefused, match=r"Task not found$"):
        tasks.find(greedy[0].id, "modest")
    assert [tasks.find(each.id, "greedy") for each in greedy[1:]] == greedy[1:]
    tasks.discard(greedy[1])
    assert tasks.find((await completed(tasks, "modest", 1_000)).id, "modest")
    assert tasks.find(modest.id, "modest") is modest


@pytest.mark.requirement("I9.3.26")
async def test_one_principal_has_half_of_the_tasks_at_most() -> None:
    tasks = Tasks(lambda: 4)
    mine = [tasks.make("greedy", TASK) for _ in range(2)]
    with pytest.raises(RequestRefused, match=r"half of limits\.tasks"):
        tasks.make("greedy", TASK)
    other = tasks.make("modest", TASK)
    tasks.discard(mine[0])
    tasks.discard(tasks.make("greedy", TASK))
    for each in (mine[1], other):
        tasks.discard(each)


@pytest.mark.requirement("I9.3.26")
def test_calls_that_wait_for_a_person_are_bounded_and_half_of_them_are_one_principals_at_most() -> None:
    asking = WaitingCalls(4)
    with asking.one("a"), asking.one("a"):
        with pytest.raises(ToolFailure, match=r"half of limits\.asking_calls"), asking.one("a"):
            pass
        asking_all = pytest.raises(ToolFailure, match=r"4 calls wait.*limits\.asking_calls")
        with asking.one("b"), asking.one(None), asking_all, asking.one("c"):
            pass
    with asking.one("a"):
        pass
