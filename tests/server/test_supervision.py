"""Background work of a server: what it raises is logged, counted and followed by another start."""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from tests.support.waiting import BOUND_S
from toolspan_server.common import supervision
from toolspan_server.common.supervision import failures, keep_running, run_contained

pytestmark = [pytest.mark.requirement("I24.4.1")]

ROOT = Path(__file__).parents[2]
SERVED = (
    "server/toolspan_server",
    *(f"bridge/toolspan_bridge/{name}" for name in ("web", "toolbox", "sessions")),
)
SUPERVISED = {"kept", "keep_running", "run_contained"}
JOINED = {
    # Whoever starts these waits for them, so that what they raise is its own failure.
    "server/toolspan_server/protocol/http/app.py": {"web.serve"},
    "server/toolspan_server/protocol/http/call_runner.py": {"_watch(exchange, running)", "self._ping()"},
    "server/toolspan_server/protocol/features/tasks.py": {"work", "lambda: running", "first"},
    "server/toolspan_server/protocol/stdio/server.py": {"self._watch()", "each"},
    "server/toolspan_server/protocol/state/task.py": {"self._run(work)"},
    "server/toolspan_server/http_server/connection/protocol.py": {"self._answer(cycle, app)"},
    "server/toolspan_server/tools/services/_ongoing_call.py": {
        "made()",
        "self._ask(client, waiting, key)",
    },
    "server/toolspan_server/tools/services/_collections.py": {"ask"},
    "server/toolspan_server/common/running.py": {"alone()"},
    "server/toolspan_server/common/eager_tasks.py": {"work", "_raised(error)", "self._run()"},
    "server/toolspan_server/engines/isolation/_worker.py": {"self._answer", "self._read()"},
    "server/toolspan_server/engines/isolation/_pool.py": {"self._ended", "work"},
    "server/toolspan_server/engines/sandbox/_background.py": {"shell.command.end"},
    "server/toolspan_server/engines/sandbox/_command.py": {"self._read()", "self._hear()"},
    "server/toolspan_server/engines/pipelines/_run.py": {"self._work"},
    "server/toolspan_server/engines/documents/_collection.py": {"_set_at_end"},
    "server/toolspan_server/resources/live.py": {"_set_at_end"},
    "bridge/toolspan_bridge/toolbox/_connecting.py": {"ready"},
    "bridge/toolspan_bridge/sessions/named/followed.py": {"look"},
    # A session with one server or client: its end is the session's, which is then begun again.
    "server/toolspan_server/protocol/http/sdk/transport.py": {"announce"},
    "server/toolspan_server/protocol/http/sdk/legacy_sse.py": {"announce"},
    "server/toolspan_server/protocol/stdio/sdk_fallback.py": {"self._run()"},
    "server/toolspan_server/engines/upstreams/_connection.py": {
        "self._keep_listing",
        "self._following.keep",
        "transport.hear_of_changes",
        "wait",
    },
    "server/toolspan_server/engines/upstreams/_stdio.py": {"_read_messages", "_write_messages"},
    "server/toolspan_server/engines/upstreams/_modern_session.py": {"session.listen"},
    "server/toolspan_server/engines/upstreams/child/process.py": {"_read_stderr"},
    # One request, whose connection ends with it.
    "bridge/toolspan_bridge/web/gateway/serving/streamed.py": {"self._ping"},
    "bridge/toolspan_bridge/web/gateway/serving/exchange.py": {"_cancelled_when_gone(receive, scope)"},
    # The server itself.
    "bridge/toolspan_bridge/web/app/serving.py": {"web.serve"},
    # ``partial(supervise, …)``, of the two supervisors.
    "server/toolspan_server/live/services.py": {"_in"},
    "server/toolspan_server/tools/services/_principal_connections.py": {"work"},
}


def started(path: Path) -> Iterator[str]:
    """What each ``start_soon`` and ``create_task`` in a file starts, as it is written."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("start_soon", "create_task", "ensure_future") and node.args:
            first = node.args[0]
            called = first.func if isinstance(first, ast.Call) else first
            if getattr(called, "id", "") not in SUPERVISED:
                yield ast.unparse(first)


def test_every_task_of_a_server_is_supervised_or_joined_by_whoever_starts_it() -> None:
    unknown = [
        f"{path.relative_to(ROOT)} starts {each}: through supervision.kept or run_contained, or name it here"
        for folder in SERVED
        for path in sorted((ROOT / folder).rglob("*.py"))
        for each in started(path)
        if each not in JOINED.get(str(path.relative_to(ROOT)), set())
    ]
    assert unknown == []


@pytest.mark.anyio
async def test_work_that_raises_is_logged_counted_and_started_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervision, "_FIRST_PAUSE_S", 0.0)
    runs = 0

    async def work() -> None:
        nonlocal runs
        runs += 1
        if runs < 3:
            raise LookupError("half of a pair: \ud800")

    before = failures().get("a test's work", 0)
    with anyio.fail_after(BOUND_S), caplog.at_level(logging.ERROR):
        await keep_running("a test's work", work)
    assert runs == 3
    assert failures()["a test's work"] == before + 2
    assert "a test's work" in caplog.text and "\\ud800" in caplog.text


@pytest.mark.anyio
async def test_work_that_is_done_once_is_not_started_again() -> None:
    runs = 0

    async def work() -> None:
        nonlocal runs
        runs += 1
        raise LookupError("a bug")

    assert not await run_contained("a test's deed", work)
    assert runs == 1


@pytest.mark.anyio
async def test_cancelling_ends_what_is_supervised() -> None:
    with anyio.move_on_after(0) as scope:
        await keep_running("a test's wait", anyio.sleep_forever)
    assert scope.cancelled_caught
