"""``python -m benchmarks.injections PYTHON [SUITE …]``: the figures, by the Python that has AgentDojo."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio

from toolspan_bridge.toolbox import Toolbox

from .measure import SUITES, Hints, figures_of, played, report, served, tasks_of


async def measured(python: Path, suites: tuple[str, ...] = SUITES) -> dict[str, dict[str, Any]]:
    """The sums by hints and kind of run, over ``suites``."""
    rows: dict[str, list[Any]] = {}
    hints: Hints
    for hints in ("honest", "none"):
        for suite in suites:
            async with Toolbox.connect([served(python, suite, hints)], connect_timeout=60) as toolbox:
                plain, attacked = await tasks_of(toolbox, suite)
                runs: list[tuple[str, Any, dict[str, Any]]] = [
                    ("task, nobody there, outward: allow", plain, {"attended": False, "outward": "allow"}),
                    ("task, nobody there", plain, {"attended": False}),
                    ("task, person there, outward: allow", plain, {"attended": True, "outward": "allow"}),
                    ("task, person there", plain, {"attended": True}),
                    (
                        "attack, person there, outward: allow",
                        attacked,
                        {"attended": True, "outward": "allow"},
                    ),
                    ("attack, person there", attacked, {"attended": True}),
                    ("attack, nobody there", attacked, {"attended": False}),
                ]
                for name, cases, how in runs:
                    found = rows.setdefault(f"{hints} hints: {name}", [])
                    found += [await played(toolbox, case, **how) for case in cases]
    return {name: figures_of(found) for name, found in rows.items()}


if __name__ == "__main__":
    print(report(anyio.run(measured, Path(sys.argv[1]), tuple(sys.argv[2:]) or SUITES)))
