"""Runs that are killed at random moments and begun again, and what is left of them in the store.

``python -m tests.support.killed_runs FOLDER ROUNDS`` kills so many, and prints ``{"kills", "runs",
"reported", "lost", "doubled", "incomplete"}``; ``… make FOLDER`` makes a run, and prints its id and the
number of each trial once that is told.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import anyio

from toolspan_bridge.validation import (
    Conversed,
    Scenario,
    Store,
    Suite,
    TrialFinished,
    TrialStarted,
    validate,
)

from .trials import given
from .waiting import BOUND_S

SCENARIOS, TRIALS, AT_ONCE = 20, 3, 8
STORE = "validation.sqlite3"


async def make(folder: Path) -> None:
    """Make the run in ``folder``, or go on with it."""
    scenarios = [{"name": f"q{n}", "query": "?", "expect": {"no_calls": True}} for n in range(SCENARIOS)]
    suite = Suite.model_validate({"name": "killed", "scenarios": scenarios})

    async def ask(model: str, scenario: Scenario) -> Conversed:
        await anyio.sleep(random.uniform(0, 0.01))
        return Conversed((given("fine"),))

    def told(event: TrialStarted | TrialFinished) -> None:
        if isinstance(event, TrialFinished):
            print(event.trial.run, event.trial.number, flush=True)

    print("began", flush=True)
    with Store.open(folder / STORE) as store:
        await validate(
            ["a/x"],
            suite,
            ask,
            store,
            trials=TRIALS,
            concurrency=AT_ONCE,
            on_event=told,
            resume="unfinished",
        )


def killed(folder: Path, rounds: int) -> dict[str, Any]:
    """Kill ``rounds`` runs, let the last one end, and compare what was told with what is there."""
    told: set[tuple[str, int]] = set()
    kills = 0
    while kills < rounds:
        kills += _one_round(folder, told, random.randrange(SCENARIOS * TRIALS // 2))
    _one_round(folder, told, None)
    with Store.open(folder / STORE) as store:
        kept = Counter((trial.run, trial.number) for trial in store.trials())
    runs = Counter(run for run, _ in kept)
    return {
        "kills": kills,
        "runs": len(runs),
        "reported": len(told),
        "lost": sorted(told - set(kept)),
        "doubled": sorted(name for name, count in kept.items() if count > 1),
        "incomplete": sorted(run for run, count in runs.items() if count != SCENARIOS * TRIALS),
    }


def _one_round(folder: Path, told: set[tuple[str, int]], most: int | None) -> int:
    """Make the run, killed once it has told of ``most`` trials; 1 if it was killed, 0 if it ended before."""
    command = [sys.executable, "-m", "tests.support.killed_runs", "make", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        was_killed = most == 0
        if was_killed:
            process.kill()
        for count, line in enumerate(process.stdout, start=1):
            if not line.endswith("\n"):
                break  # killed while it was said
            run, number = line.split()
            told.add((run, int(number)))
            if count == most:
                process.kill()
                was_killed = True
        ended = process.wait(BOUND_S)
    assert was_killed or ended == 0, f"a run ended with {ended}"
    return int(was_killed)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        anyio.run(make, Path(sys.argv[2]))
    else:
        print(json.dumps(killed(Path(sys.argv[1]), int(sys.argv[2]))))
