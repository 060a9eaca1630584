"""``python -m benchmarks.trials``: a run of trials beside the least time that it can take.

The model answers each request after ``--ms``; so many trials at once cannot take less than ``ideal``. Each
way makes the same trials, by a script in the process that makes them and by a model on loopback; with
``--postgres URL`` also by workers at a queue in a new database there. The floor is a bare client (``httpx2``)
that sends as many requests and reads nothing of the answers. The model, the clients and the database share
this machine's processors, so processor time is told beside the time. Times begin in processes that have
started.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from ..processes import ROOT
from .model import TEXT
from .setting import MODEL, ideal

HEADS = ("way", "seconds", "x ideal", "x floor", "processor (s)", "the model's", "the database's")
_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Plan:
    """So many ``trials``, so many ``at_once``, each answered after ``ms`` milliseconds."""

    trials: int
    at_once: int
    ms: float

    @property
    def ideal(self) -> float:
        """The least seconds that they can take."""
        return ideal(self.trials, self.at_once, self.ms / 1000)


@dataclass(slots=True)
class Found:
    """What the rounds of a way took, in seconds: in all, and of the processor: its own, the model's, and
    PostgreSQL's."""

    seconds: list[float] = field(default_factory=list[float])
    processor: list[float] = field(default_factory=list[float])
    model: list[float] = field(default_factory=list[float])
    database: list[float] = field(default_factory=list[float])

    def add(self, one: Mapping[str, float], model: float) -> None:
        """Count a round."""
        self.seconds.append(one["seconds"])
        self.processor.append(one["processor"])
        self.model.append(model)
        self.database.append(one.get("database", 0.0))


@contextmanager
def answering(ms: float) -> Generator[tuple[str, list[float]]]:
    """The model's URL while the block runs; then its processor time is in the list."""
    spent: list[float] = []
    model = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.trials.model", str(ms)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert model.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(model.stdout.readline())}/v1", spent
    finally:
        model.send_signal(signal.SIGTERM)
        spent.append(json.loads(model.communicate(timeout=30)[0])["processor"])


def run(module: str, *words: object, **environment: str) -> dict[str, float]:
    """What the program ``module`` of this package prints. Raises ``RuntimeError`` with its errors."""
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.trials.{module}", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module} failed:\n{done.stderr[-2_000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def one_round(
    plan: Plan, script: Path, postgres: str, workers: int
) -> Iterator[tuple[str, Mapping[str, float], float]]:
    """Each way once: its name, what it took, and what the model's processor time was."""
    size = plan.trials, plan.at_once
    body = json.dumps({"model": "gpt-4o", "stream": True, "messages": [{"role": "user", "content": TEXT}]})
    with answering(plan.ms) as (url, spent):
        found = run("floor", f"{url}/chat/completions", *size, body)
    yield "a bare client", found, spent[0]
    scripted = f"scripted/{script}"
    yield "a script, in the process", run("one_machine", scripted, *size), 0.0
    if postgres:
        yield f"a script, by {workers} workers", run("queued", postgres, workers, scripted, *size), 0.0
    ways: dict[str, tuple[str, tuple[object, ...]]] = {"over a socket": ("one_machine", (MODEL, *size))}
    if postgres:
        ways[f"over a socket, by {workers} workers"] = ("queued", (postgres, workers, MODEL, *size))
    for name, (module, words) in ways.items():
        with answering(plan.ms) as (url, spent):
            found = run(module, *words, OPENAI_API_KEY="sk-none", OPENAI_BASE_URL=url)
        yield name, found, spent[0]


def rows(found: Mapping[str, Found], plan: Plan) -> Iterator[Sequence[str]]:
    """A row a way: the least of all rounds."""
    floor = min(found["a bare client"].seconds)
    yield "the ideal", f"{plan.ideal:.2f}", "1.00", "", "", "", ""
    for name, each in found.items():
        seconds = min(each.seconds)
        spent = [min(times) for times in (each.processor, each.model, each.database)]
        by = f"{seconds:.2f}", f"{seconds / plan.ideal:.2f}", f"{seconds / floor:.2f}"
        yield name, *by, *(f"{one:.2f}" if one else "" for one in spent)


def main() -> None:
    """Measure in turns, so that what else the machine does falls on all, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trials", description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000, help="a multiple of 20 (default: 1,000)")
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--ms", type=float, default=50, help="the model's latency (default: 50)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--postgres", default="", metavar="URL", help="a server whose user may make databases"
    )
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    plan = Plan(options.trials, options.at_once, options.ms)
    found: dict[str, Found] = {}
    with TemporaryDirectory() as folder:
        script = Path(folder) / "script.yaml"
        turn = {"text": TEXT, "after_ms": options.ms, "usage": {"input_tokens": 120, "output_tokens": 9}}
        script.write_text(json.dumps({"answers": [{"turns": [turn]}]}))
        for _ in range(options.rounds):
            for name, one, model in one_round(plan, script, options.postgres, options.workers):
                found.setdefault(name, Found()).add(one, model)
                print(name, json.dumps(one), file=sys.stderr, flush=True)
    print("| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS))
    for row in rows(found, plan):
        print("| " + " | ".join(row) + " |")
    print(f"\nload average: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
