"""``python -m benchmarks.formats``: what the wire formats cost, beside Python's own ``json``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from statistics import median

from toolspan_bridge.formats import format_names

from .measures.formats import dumps_ms, loads_ms, parse_ms, render_ms

HEADS = ("format", "first request (ms)", "× json.dumps", "another (ms)", "stream (ms)", "× json.loads")


def measured(count: int, size: int, rounds: int) -> Iterator[Sequence[str]]:
    """A row a format: requests with ``count`` tools, a stream of ``size`` bytes; medians of ``rounds``."""
    dumped = median(dumps_ms(count) for _ in range(rounds))
    loaded = median(loads_ms(size) for _ in range(rounds))
    yield "json alone", f"{dumped:.1f}", "1.0", "", f"{loaded:.1f}", "1.0"
    for name in format_names():
        rendered = [render_ms(name, count) for _ in range(rounds)]
        first, again = (median(times) for times in zip(*rendered, strict=True))
        parsed = median(parse_ms(name, size) for _ in range(rounds))
        yield (
            name,
            f"{first:.1f}",
            f"{first / dumped:.1f}",
            f"{again:.2f}",
            f"{parsed:.1f}",
            f"{parsed / loaded:.1f}",
        )


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.formats", description=__doc__)
    parser.add_argument("--tools", type=int, default=1_000)
    parser.add_argument("--bytes", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rows = [HEADS, *measured(options.tools, options.bytes, options.rounds)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    for row in rows:
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        print(f"{row[0].ljust(widths[0])}  {'  '.join(cells)}")


if __name__ == "__main__":
    main()
