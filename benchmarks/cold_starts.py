"""``python -m benchmarks.cold_starts``: commands as whole processes, beside Python's start and others."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import perf_counter

from .install import byte_compile, fastmcp_python

HEADS = ("command", "wall, least (s)", "wall, median (s)", "processor, least (s)", "× Python", "limit (s)")
LIMITS_S = {
    "toolspan --help": 0.25,
    "toolspan tools list": 0.5,
    "toolspan ask": 0.8,
    "completion of a verb": 0.3,
    "completion of a tool": 0.3,
}
"""The wall time that each is to stay within on an idle core."""
PYTHON = "python -c pass"
_TOOL = {
    "name": "get_weather",
    "description": "Current weather for a place.",
    "parameters": {
        "type": "object",
        "properties": {"location": {"type": "string"}},
        "required": ["location"],
    },
    "implementation": {"type": "mock", "mock_response": {"temperature": 22}},
}
_SDK = "import mcp; from mcp.client.stdio import stdio_client"
_FASTMCP = "from fastmcp import Client, FastMCP"
_COMPLETED = "from toolspan_bridge.__main__ import main; main()"


@dataclass(frozen=True, slots=True)
class Took:
    """The seconds of one run: wall time, and processor time of the process and all that it started."""

    wall: float
    processor: float


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, with further variables of its environment."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


def commands() -> Mapping[str, Command]:
    """What is run, by name: Python alone first, then Toolspan, then the peers that are installed here."""
    toolspan = (sys.executable, "-m", "toolspan_bridge")
    asked = "What's the weather in Paris?"
    found = {
        PYTHON: Command((sys.executable, "-c", "pass")),
        "toolspan --help": Command((*toolspan, "--help")),
        "toolspan check": Command((*toolspan, "check")),
        "toolspan tools list": Command((*toolspan, "tools", "list")),
        "toolspan tools call": Command((*toolspan, "tools", "call", "get_weather", "location=Paris")),
        "toolspan ask": Command((*toolspan, "ask", "-m", "offline/keyword", asked)),
        "completion of a verb": _completion("toolspan "),
        "completion of a tool": _completion("toolspan tools call "),
        "import of the MCP SDK's client": Command((sys.executable, "-c", _SDK)),
    }
    if fastmcp_python().exists():
        found["import of FastMCP"] = Command((str(fastmcp_python()), "-c", _FASTMCP))
    return found


def _completion(line: str) -> Command:
    """What bash runs when Tab is pressed at the end of ``line``."""
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    return Command((sys.executable, "-c", _COMPLETED), {"_TOOLSPAN_COMPLETE": "bash_complete", **asked})


def measured(rounds: int) -> Iterator[Sequence[str]]:
    """A row for each command, of ``rounds`` runs in turns after one that is not counted.

    ``× Python`` is the processor time as a multiple of Python's own start. Raises ``CalledProcessError``
    when a command fails.
    """
    times: dict[str, list[Took]] = {name: [] for name in commands()}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "toolspan.json").write_text(json.dumps({"tools": {"registry": [_TOOL]}}))
        for number in range(rounds + 1):
            for name, command in commands().items():
                took = _run(command, folder)
                if number:
                    times[name].append(took)
    unit = min(took.processor for took in times[PYTHON])
    for name, taken in times.items():
        walls, processor = [took.wall for took in taken], min(took.processor for took in taken)
        limit = f"{LIMITS_S[name]:.2f}" if name in LIMITS_S else "–"
        seconds = (f"{min(walls):.2f}", f"{median(walls):.2f}", f"{processor:.2f}")
        yield name, *seconds, f"{processor / unit:.1f}", limit


def _run(command: Command, folder: str) -> Took:
    environment = {**os.environ, **command.environment}
    started, before = perf_counter(), _processor_seconds()
    subprocess.run(
        command.words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    return Took(perf_counter() - started, _processor_seconds() - before)


def _processor_seconds() -> float:
    """What all processes took together that were waited for."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, and print the table as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold_starts", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    byte_compile()
    print(f"| {' | '.join(HEADS)} |\n|---|{'---:|' * (len(HEADS) - 1)}")
    for row in measured(options.rounds):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
