"""Workers as programs: killed at random, stopped, and run by the commands of the Compose file."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest
import yaml

from tests.support.documents import ROOT
from tests.support.queues import database
from tests.support.waiting import eventually
from toolspan_bridge.validation import Store

pytestmark = pytest.mark.long

EXAMPLE = ROOT / "examples" / "validation_workers"
MODEL = "answers: [{turns: [{text: All fine., after_ms: 20}]}]\n"
SUITE = "name: load\nscenarios: [{query: Hello, expect: {no_calls: true}}]\n"
KILLS, TRIALS = 5, 600


def toolspan(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "toolspan_bridge", *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextmanager
def started(folder: Path, *arguments: str) -> Generator[subprocess.Popen[str]]:
    with toolspan(folder, *arguments) as process:
        try:
            yield process
        finally:
            process.kill()


def done(url: str) -> frozenset[int]:
    import psycopg

    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT to_regclass('trials') IS NOT NULL").fetchone()
        if not found or not found[0]:
            return frozenset()
        return frozenset(row[0] for row in connection.execute("SELECT number FROM trials"))


def has_done(url: str, count: int) -> bool:
    return len(done(url)) >= count


@pytest.mark.requirement("I14.2.83")
def test_workers_that_are_killed_lose_no_reported_trial_and_double_none(tmp_path: Path) -> None:
    (tmp_path / "model.yaml").write_text(MODEL)
    (tmp_path / "suite.yaml").write_text(SUITE)
    shutil.copy(EXAMPLE / "toolspan.yaml", tmp_path)
    with database() as url, ExitStack() as stack:
        worker = ("worker", "--config=toolspan.yaml", "--queue", url, "--concurrency=2", "--lease=2s")
        asked = ("--model=scripted/model.yaml", "--suite=suite.yaml", f"--trials={TRIALS}")
        follower = stack.enter_context(
            started(tmp_path, "validate", "--config=toolspan.yaml", "--queue", url, *asked)
        )
        workers = [stack.enter_context(started(tmp_path, *worker)) for _ in range(2)]
        reported: frozenset[int] = frozenset()
        for kill in range(KILLS):
            assert eventually(partial(has_done, url, (kill + 1) * TRIALS // (KILLS + 2)))
            assert reported <= (reported := done(url))
            killed = workers.pop(random.randrange(len(workers)))
            killed.kill()
            workers.append(stack.enter_context(started(tmp_path, *worker)))
        follower.communicate(timeout=300)
        assert follower.returncode == 0
        with Store.open(url) as store:
            numbers = [trial.number for trial in store.trials()]
        assert sorted(numbers) == list(range(1, TRIALS + 1))
        workers[0].send_signal(signal.SIGTERM)
        assert workers[0].wait(60) == 0
        workers[1].send_signal(signal.SIGINT)
        assert workers[1].wait(60) == 130


@pytest.mark.requirement("I14.2.88")
@pytest.mark.requirement("I14.2.85")
def test_the_commands_of_the_compose_file_run_as_printed(tmp_path: Path) -> None:
    services = yaml.safe_load((EXAMPLE / "compose.yaml").read_text("utf-8"))["services"]
    assert set(services) == {"db", "worker", "validate"}
    for name in ("toolspan.yaml", "suite.yaml"):
        assert f"./{name}:/work/{name}:ro" in services["worker"]["volumes"]
        shutil.copy(EXAMPLE / name, tmp_path)
    with database() as url:
        secret = url.replace("postgres@", "postgres:s3cret@")

        def command(service: str) -> list[str]:
            words = services[service]["command"]
            return [word.replace("postgresql://toolspan@db/toolspan", secret) for word in words]

        with started(tmp_path, *command("worker")) as worker, started(tmp_path, *command("validate")) as run:
            output, notes = run.communicate(timeout=300)
            assert run.returncode == 0, notes
            assert "10/10" in output
            worker.send_signal(signal.SIGTERM)
            said = notes + worker.communicate(timeout=60)[1]
            assert "waits for trials at postgresql://postgres:***@127.0.0.1:5432/" in said
            assert "s3cret" not in said + output
            import psycopg

            with psycopg.connect(url) as connection:
                kept = connection.execute("SELECT parcel FROM toolspan_queue_runs").fetchall()
            assert "s3cret" not in str(kept)
