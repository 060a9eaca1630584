"""The suites, run side by side against one server; and what their checks said."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .serving import served
from .suites import Suite

_LONGEST_S = 300
_FOLDER = re.compile(r"server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z")


@dataclass(frozen=True)
class Scenario:
    """How a scenario went: how many checks of each status there were, and what the failed ones said."""

    name: str
    counts: Counter[str]
    said: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """How a suite went. ``problem`` says why it did not run whole; it is empty when it did."""

    suite: Suite
    scenarios: tuple[Scenario, ...]
    problem: str = ""


def measured(suites: Sequence[tuple[Suite, tuple[str, str]]], config: Path) -> list[Outcome]:
    """Every suite's outcome, in order. Each comes with the command that runs it."""
    with served(config) as url, ThreadPoolExecutor(len(suites)) as pool:
        running = [pool.submit(_outcome, suite, program, url) for suite, program in suites]
        return [each.result() for each in running]


def _outcome(suite: Suite, program: tuple[str, str], url: str) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        try:
            said = "".join(_run([*program, "server", "--url", url, *each], folder) for each in suite.runs)
        except subprocess.TimeoutExpired:
            return Outcome(suite, (), f"did not end within {_LONGEST_S} s")
        scenarios = tuple(sorted(map(_scenario, Path(folder).glob("server-*")), key=lambda each: each.name))
    problem = ""
    if missing := set(suite.required) - {scenario.name for scenario in scenarios}:
        problem = f"did not run {', '.join(sorted(missing))}:\n{said[-2_000:]}"
    return Outcome(suite, scenarios, problem)


def _run(command: Sequence[str], folder: str) -> str:
    """What it says. It leaves its checks in ``folder``."""
    done = subprocess.run(
        [*command, "--output-dir", folder],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
        check=False,
    )
    return done.stdout + done.stderr


def _scenario(folder: Path) -> Scenario:
    named = _FOLDER.fullmatch(folder.name)
    checks: list[dict[str, Any]] = json.loads((folder / "checks.json").read_text(encoding="utf-8"))
    said = [
        f"{check['status']} {check['id']}: {check.get('errorMessage') or check.get('description', '')}"
        for check in checks
        if check["status"] in ("FAILURE", "WARNING")
    ]
    counts = Counter(str(check["status"]) for check in checks)
    return Scenario(named[1] if named else folder.name, counts, tuple(said))
