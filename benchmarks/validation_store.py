"""``python -m benchmarks.validation_store [--trials N | --growth N …] [--url postgresql://…]``: the
validation store with many trials, or how what it takes grows with them.

What is measured stands beside plain SQL over the same tables, as a ratio; the trials are made up: 10 models,
5 suites of 20 scenarios. Without ``--url`` the store is a file of SQLite in a folder that is removed; a
database keeps what was written.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import create_engine, text

from toolspan_bridge import Fingerprint, Store, Trial, read_records

_PART = 2_000
_ROUNDS = 5
_FIRST = datetime(2026, 11, 21)  # noqa: DTZ001 (UTC, written with a Z)
_PLAIN = (
    "SELECT model_id, suite, fingerprint, sum(1 - is_error), sum(success), sum(is_error), min(timestamp), "
    "max(timestamp) FROM trials GROUP BY model_id, suite, fingerprint"
)
_DETAILS: dict[str, Any] = {
    "query": "What's the weather in Paris? " * 5,
    "duration_ms": 812,
    "expected": {"calls": ["get_weather"]},
    "tool_calls": [{"tool": "get_weather", "arguments": {"location": "Paris"}, "iteration": 1}],
    "usage": {"input_tokens": 512, "output_tokens": 64},
    "cost": {"usd": 0.0003},
    "content": "It is sunny in Paris. " * 10,
}


def main() -> None:
    """Write the trials, measure, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validation_store", description=__doc__)
    parser.add_argument("--trials", type=int, default=100_000, help="how many (default: 100,000)")
    parser.add_argument("--url", help="a database of PostgreSQL in place of SQLite")
    parser.add_argument("--growth", type=int, nargs="+", metavar="N", help="measure at each of these sizes")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        place: Path | str = options.url or Path(folder) / "validation.sqlite3"
        plain = (
            options.url.replace("postgresql://", "postgresql+psycopg://")
            if options.url
            else f"sqlite:///{place}"
        )
        lines = (
            growth(place, plain, options.growth) if options.growth else measured(place, plain, options.trials)
        )
        for line in lines:
            print(line, flush=True)


def measured(place: Path | str, plain: str, count: int) -> Iterator[str]:
    """A line for each figure."""
    began = time.perf_counter()
    with Store.open(place) as store:
        source = trials(count)
        while part := list(islice(source, _PART)):
            store.append_all(part)
        seconds = time.perf_counter() - began
        yield f"{count:,} trials written, {_PART:,} at a time: {count / seconds:,.0f} a second"
        one = best(lambda: store.append(next(trials(1))))
        yield f"one trial, on the disk when append returns: {one * 1000:.2f} ms"
        own = best(store.records)
        yield f"records with their counts and figures: {own * 1000:.1f} ms"
    opening = best(lambda: Store.open(place).close())
    yield f"opening and closing: {opening * 1000:.1f} ms"
    yield f"read_records, as ask, models and chat do: {best(lambda: read_records(place)) * 1000:.1f} ms"
    engine = create_engine(plain)
    with engine.connect() as connection:
        sql = best(lambda: connection.execute(text(_PLAIN)).all())
    engine.dispose()
    yield f"the same counts by plain SQL: {sql * 1000:.1f} ms (records / SQL: {own / sql:.3f})"
    began = time.perf_counter()
    with Store.open(place) as store:
        read = sum(1 for _ in store.stream())
    seconds = time.perf_counter() - began
    yield f"every trial read and checked, one after another: {read / seconds:,.0f} a second ({seconds:.1f} s)"


def growth(place: Path | str, plain: str, sizes: Sequence[int]) -> Iterator[str]:
    """A table with a row for each of ``sizes``, in rising order: the processor's time of this process for a
    thousand of the trials that were added, the least times of the matrix (by ``read_records``), of writing a
    further trial and of the same counts by plain SQL."""
    yield "| trials | processor, 1,000 added (ms) | matrix (ms) | one more (ms) | plain SQL (ms) |"
    yield "|---:|---:|---:|---:|---:|"
    source, there, engine = trials(max(sizes)), 0, create_engine(plain)
    for size in sizes:
        with Store.open(place) as store:
            spent = time.process_time()
            while part := list(islice(source, min(_PART, size - there))):
                store.append_all(part)
                there += len(part)
            spent = time.process_time() - spent
            one = best(lambda: store.append(next(trials(1))))
        matrix = best(lambda: read_records(place))
        with engine.connect() as connection:
            sql = best(lambda: connection.execute(text(_PLAIN)).all())
        added = size - (sizes[sizes.index(size) - 1] if sizes.index(size) else 0)
        figures = (spent / added * 1e6, matrix * 1e3, one * 1e3, sql * 1e3)
        yield f"| {size:,} | " + " | ".join(f"{figure:,.1f}" for figure in figures) + " |"
    engine.dispose()


def trials(count: int) -> Iterator[Trial]:
    """Trials in a fixed order: 7 of 8 succeed, 1 of 100 is an error."""
    marks = [Fingerprint(model=f"m{number}", provider="p", mode="native") for number in range(10)]
    for number in range(count):
        model, suite, scenario = number % 10, number // 10 % 5, number // 50 % 20
        is_error, success = number % 100 == 99, number % 8 != 0
        ended = _FIRST + timedelta(milliseconds=number)
        yield Trial(
            f"p/m{model}",
            f"suite {suite}",
            f"scenario {scenario}",
            ended.isoformat(timespec="milliseconds") + "Z",
            success and not is_error,
            "" if success and not is_error else "get_weather was not called (no tool was)",
            _DETAILS,
            marks[model],
            is_error=is_error,
        )


def best(work: Callable[[], object]) -> float:
    """The seconds of the fastest of some rounds."""
    found: list[float] = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


if __name__ == "__main__":
    sys.exit(main())
