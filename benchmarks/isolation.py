"""``python -m benchmarks.isolation``: what a handler's call costs in a thread, and in a worker process."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from .messages import request
from .processes import children, resident_mb
from .stdio import Stdio

HEADS = ("isolation", "first call (ms)", "a call (ms)", "a call, 900 kB (ms)", "memory of a worker (MiB)")
LARGE = 900_000
_HANDLERS = Path(__file__).parent / "peers" / "isolated_handlers.py"


def measured(calls: int, large: int) -> Iterator[Sequence[str]]:
    """A row for each way; medians of ``calls`` calls, and of ``large`` ones with a large result."""
    for way in ("thread", "process"):
        with tempfile.TemporaryDirectory() as folder, Stdio(_command(Path(folder), way)) as server:
            first = _call_ms(server, 1)
            usual = median(_call_ms(server, 1) for _ in range(calls))
            heavy = median(_call_ms(server, LARGE) for _ in range(large))
            workers = [resident_mb(pid) for pid in children(server.process.pid)]
        memory = f"{max(workers):.0f}" if workers else "–"
        yield way, f"{first:.0f}", f"{usual:.2f}", f"{heavy:.1f}", memory


def _command(folder: Path, way: str) -> list[str]:
    implementation = {"type": "builtin", "handler": "bench_answer", "isolation": way}
    tool = {
        "name": "answer",
        "description": "Give so many characters.",
        "parameters": {"type": "object", "properties": {"size": {"type": "integer"}}},
        "implementation": implementation,
    }
    config = folder / "toolspan.json"
    config.write_text(json.dumps({"handlers": [str(_HANDLERS)], "tools": {"registry": [tool]}}))
    return [sys.executable, "-m", "toolspan_server", "--config", str(config)]


def _call_ms(server: Stdio, size: int) -> float:
    asked = request(1, "tools/call", {"name": "answer", "arguments": {"size": size}})
    started = perf_counter()
    answer = server.ask(asked)
    took = (perf_counter() - started) * 1_000
    if len(answer) < size or b'"isError":true' in answer:
        raise RuntimeError(f"the call failed: {answer[:300]!r}")
    return took


def main() -> None:
    """Measure, and print the table as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.isolation", description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--large", type=int, default=20)
    options = parser.parse_args()
    print(f"| {' | '.join(HEADS)} |\n|---|{'---:|' * (len(HEADS) - 1)}")
    for row in measured(options.calls, options.large):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
