"""The suites, run against our server, side by side, and our client; and what their checks said."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .clients import startable
from .serving import aggregated, served
from .suites import Suite

_ROOT = Path(__file__).parents[1]
_LONGEST_S = 600
_CLIENT_MS = 240_000
"""For a client: a suite starts all of its own at once, and most of them wait for their turn."""

_FOLDER = re.compile(r"(?:server-)?(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z")


@dataclass(frozen=True)
class Scenario:
    """How a scenario went: how many checks of each status there were, and what the failed ones said."""

    name: str
    counts: Counter[str]
    said: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """How a suite went, and in how many ``seconds``. ``problem`` says why it did not run whole; it is empty
    when it did."""

    suite: Suite
    scenarios: tuple[Scenario, ...]
    problem: str = ""
    seconds: float = 0.0


def measured(
    suites: Sequence[tuple[Suite, tuple[str, str]]], config: Path, *, aggregate: bool = False
) -> Iterator[Outcome]:
    """Every suite's outcome as soon as it is there. Each suite comes with the command that runs it. With
    ``aggregate`` the server is one that has that of ``config`` behind it.

    The suites of the server run side by side, which mostly wait; then those of the client one by one, each of
    which runs all its scenarios at once.
    """
    of_server = [each for each in suites if each[0].role == "server"]
    of_client = [each for each in suites if each[0].role == "client"]
    if of_server:
        with (aggregated if aggregate else served)(config) as url, ThreadPoolExecutor(len(of_server)) as pool:
            tested = ["server", "--url", url]
            running = [pool.submit(_outcome, suite, [*program, *tested]) for suite, program in of_server]
            for each in as_completed(running):
                yield each.result()
    if of_client:
        with startable() as client:
            tested = ["client", "--command", client, "--timeout", str(_CLIENT_MS)]
            for suite, program in of_client:
                yield _outcome(suite, [*program, *tested])


def _outcome(suite: Suite, command: Sequence[str]) -> Outcome:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            said = "".join(_run([*command, *each], folder) for each in suite.runs)
        except subprocess.TimeoutExpired:
            return Outcome(suite, (), f"did not end within {_LONGEST_S} s", time.monotonic() - began)
        found = (_scenario(path, Path(folder)) for path in Path(folder).rglob("checks.json"))
        scenarios = tuple(sorted(found, key=lambda each: each.name))
    problem = ""
    if missing := set(suite.required) - {scenario.name for scenario in scenarios}:
        problem = f"did not run {', '.join(sorted(missing))}:\n{said[-2_000:]}"
    return Outcome(suite, scenarios, problem, time.monotonic() - began)


def _run(command: Sequence[str], folder: str) -> str:
    """What it says. It leaves its checks in ``folder``."""
    done = subprocess.run(
        [*command, "--output-dir", folder],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
        check=False,
    )
    return done.stdout + done.stderr


def _scenario(path: Path, folder: Path) -> Scenario:
    """What the file ``path`` says, whose place in ``folder`` names the scenario."""
    place = path.parent.relative_to(folder).as_posix()
    named = _FOLDER.fullmatch(place)
    checks: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    said = [
        f"{check['status']} {check['id']}: {check.get('errorMessage') or check.get('description', '')}"
        for check in checks
        if check["status"] in ("FAILURE", "WARNING")
    ]
    counts = Counter(str(check["status"]) for check in checks)
    return Scenario(named[1] if named else place, counts, tuple(said))
