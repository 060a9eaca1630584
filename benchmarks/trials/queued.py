"""The trials, put on a queue and made by workers that wait there.

``python -m benchmarks.trials.queued POSTGRES WORKERS MODEL TRIALS AT_ONCE`` prints ``{"seconds", "processor",
"database"}``, from before the run is put to its report. Queue and store are in a new database of
``POSTGRES``, which is dropped. The processor time is that of the workers and of this process, ``database``
that of PostgreSQL's processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import psycopg

from toolspan_bridge import Store, Suite, Toolbox
from toolspan_bridge.toolbox.servers import servers_of
from toolspan_bridge.validation import Asker, RunLimits, Stop
from toolspan_bridge.validation.badges import RULE
from toolspan_bridge.validation.fingerprint import hash_of_tools
from toolspan_bridge.validation.queue.connection import Queue, opened_queue
from toolspan_bridge.validation.queue.following import follow
from toolspan_bridge.validation.queue.listening import listening
from toolspan_bridge.validation.queue.putting import put
from toolspan_bridge.validation.queue.queued_run import QueuedRun, parcel_of
from toolspan_bridge.validation.runs.plan import Plan
from toolspan_server.common.garbage_collector import frozen
from toolspan_server.config import load_config

from .setting import CONFIG, SUITE

_NO_LIMITS = RunLimits()
_WAITING = "SELECT count(*) AS workers FROM toolspan_queue_workers"
_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def database(server: str) -> Generator[str]:
    """The URL of a new database, which is dropped at the end."""
    name = f"toolspan_trials_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
        try:
            yield f"{server.rpartition('/')[0]}/{name}"
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def workers(url: str, count: int, at_once: int) -> Generator[list[int]]:
    """The process ids of ``count`` workers at the queue ``url``, which together make ``at_once`` at once."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(count):
            options = ["--queue", url, "--config", str(CONFIG), "--concurrency", str(at_once // count)]
            command = [sys.executable, "-m", "toolspan_bridge", "worker", *options]
            started.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def processor(pids: list[int]) -> float:
    """The seconds of processor time of these processes so far."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # a connection of the pool that ended meanwhile
        total += int(fields[11]) + int(fields[12])
    return total / _TICKS


def of_database(name: str) -> float:
    """The seconds of processor time of PostgreSQL's connections to the database ``name`` so far."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f" {name} ".encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue  # it ended meanwhile
    return processor(found)


async def waiting(queue: Queue, count: int) -> None:
    """Return once so many workers wait."""
    with anyio.fail_after(60):
        async with listening(queue) as changes:
            while (await queue.rows(_WAITING))[0]["workers"] < count:
                await changes.wait(0.1)


async def measured(url: str, count: int, model: str, trials: int, at_once: int) -> dict[str, Any]:
    """What the run took."""
    config, suite = load_config(CONFIG), Suite.model_validate(SUITE)
    plan = Plan((model,), (suite,), trials // len(suite.scenarios))
    name = url.rpartition("/")[2]
    async with (
        opened_queue(url) as queue,
        Toolbox.connect(servers_of(config)) as toolbox,
        Asker(config, toolbox) as asker,
    ):
        # collections of garbage are as the command has them
        with Store.open(url) as store, workers(url, count, at_once) as pids, frozen():
            await waiting(queue, count)
            before = processor(pids) + time.process_time(), of_database(name)
            began = time.perf_counter()
            parcel = await parcel_of(plan, asker.fingerprint, hash_of_tools(toolbox.tools), 60.0, None)
            run = await put(queue, store, plan, parcel, _NO_LIMITS, "never")
            state = await follow(queue, run, Stop(), lambda state, counted: None)
            queued = QueuedRun(plan, run, 0.8, RULE, _NO_LIMITS)
            report = await queued.report(store, state, interrupted=False)
            seconds = time.perf_counter() - began
            after = processor(pids) + time.process_time(), of_database(name)
            right = sum(trial.success for trial in store.trials(model))
    if not report.passed or right != trials:
        raise SystemExit(f"only {right} of {trials} trials are right")
    return {"seconds": seconds, "processor": after[0] - before[0], "database": after[1] - before[1]}


def main() -> None:
    """Measure, and print what was found."""
    server, count, model = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    trials, at_once = map(int, sys.argv[4:6])
    with database(server) as url:
        print(json.dumps(anyio.run(measured, url, count, model, trials, at_once)))


if __name__ == "__main__":
    main()
