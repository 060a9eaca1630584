"""``python -m benchmarks.loops``: what a turn of the loop costs, beside the loops of others.

Every loop has the same scripted model (Chat Completions on loopback) and the same MCP server (stdio): a
question of 20 turns with one call each, and one of a turn with ten calls of 100 ms. ``--install`` installs
the others.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from .install import install_loops, loop_python

FOLDER = Path(__file__).parent / "peers" / "loops"
LOOPS = {
    "no loop": (Path(sys.executable), "bare.py"),
    "toolspan": (Path(sys.executable), "toolspan.py"),
    "pydantic-ai": (loop_python("pydantic-ai"), "pydantic_ai_loop.py"),
    "openai-agents": (loop_python("openai-agents"), "openai_agents_loop.py"),
    "langchain (langgraph, mcp-adapters)": (loop_python("langchain"), "langchain_loop.py"),
}
HEADS = ("loop", "a turn (ms)", "of it its own", "x toolspan", "processor (ms)", "ten calls of 100 ms (ms)")
_SECONDS = 600


def measured(name: str, url: str, turns: int, rounds: int) -> Mapping[str, list[float]] | None:
    """Seconds of each conversation; ``None`` when the loop is not here."""
    python, program = LOOPS[name]
    if not python.exists():
        print(f"{name} is not here: python -m benchmarks.loops --install", file=sys.stderr)
        return None
    command = [python, FOLDER / program, url, FOLDER / "tools.py", str(turns), str(rounds)]
    quiet = {"OPENAI_AGENTS_DISABLE_TRACING": "1", "LANGSMITH_TRACING": "false"}
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        print(f"{name} failed:\n{done.stderr[-2_000:]}", file=sys.stderr)
        return None
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def rows(results: Mapping[str, Mapping[str, list[float]]], turns: int) -> Iterator[Sequence[str]]:
    """A row a loop: medians of a turn, of what is the loop's own of it, and of the ten calls."""
    requests = turns + 1
    ms = {name: median(found["turns"]) * 1000 / requests for name, found in results.items()}
    own = {name: each - ms["no loop"] for name, each in ms.items()}
    for name, found in results.items():
        processor = median(found["processor"]) * 1000 / requests
        times = "" if name == "no loop" else f"{own[name] / own['toolspan']:.1f}"
        parallel = median(found["parallel"]) * 1000
        yield name, f"{ms[name]:.2f}", f"{own[name]:.2f}", times, f"{processor:.2f}", f"{parallel:.0f}"


def merged(runs: Sequence[Mapping[str, list[float]]]) -> dict[str, list[float]]:
    """The figures of several runs of one loop together."""
    return {kind: [each for run in runs for each in run[kind]] for kind in runs[0]}


def main() -> None:
    """Measure in turns, so that what else the machine does falls on all, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loops", description=__doc__)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5, help="conversations in each run")
    parser.add_argument("--runs", type=int, default=3, help="runs of each loop")
    parser.add_argument("--install", action="store_true", help="install the loops of others first")
    options = parser.parse_args()
    if options.install:
        install_loops()
    model = subprocess.Popen([sys.executable, FOLDER / "model.py"], stdout=subprocess.PIPE, text=True)
    try:
        assert model.stdout is not None
        url = f"http://127.0.0.1:{int(model.stdout.readline())}/v1"
        found: dict[str, list[Any]] = {}
        for _ in range(options.runs):
            for name in LOOPS:
                if (one := measured(name, url, options.turns, options.rounds)) is not None:
                    found.setdefault(name, []).append(one)
    finally:
        model.kill()
        model.wait()
    print("| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS))
    for row in rows({name: merged(runs) for name, runs in found.items()}, options.turns):
        print("| " + " | ".join(row) + " |")
    print(f"\nload average: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
