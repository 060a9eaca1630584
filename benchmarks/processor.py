"""``python -m benchmarks.processor``: a call's cost to the server's processor, beside the bare server's.

On a machine with other work this tells more than calls a second: that work is not counted.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from statistics import median

from .load import Http
from .measures.processor import over_http, over_stdio, over_stdio_pipelined
from .messages import ERAS
from .processes import pinned
from .run import CONNECTIONS
from .servers import BARE, TOOLSPAN, Server, servers
from .stdio import Stdio

HEADS = ("µs of processor a call", "toolspan", "bare", "× bare")
_CALLS = 500
_PIPELINED = 2_000
_SECONDS = 0.15

Figures = Mapping[str, Mapping[str, Sequence[float]]]


def measured(rounds: int) -> Figures:
    """The figures of each round, by measure and server; both servers are up all the time, and take turns."""
    found = {server.name: server for server in servers()[0]}
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with pinned(), ExitStack() as stack:
        both = {name: _open(found[name], stack) for name in (TOOLSPAN, BARE)}
        for number in range(rounds + 1):
            for name, (http, stdio) in both.items():
                for title, value in _round(http, stdio):
                    if number:  # the first one warms up
                        values[title][name].append(value)
    return values


def _open(server: Server, stack: ExitStack) -> tuple[Http, Stdio]:
    return stack.enter_context(Http(server.http)), stack.enter_context(Stdio(server.stdio(3)))


def _round(http: Http, stdio: Stdio) -> Iterator[tuple[str, float]]:
    for era in ERAS:
        yield f"HTTP {era}", over_http(http, era, connections=CONNECTIONS, seconds=_SECONDS)
    yield "stdio: one call", over_stdio(stdio, _CALLS)
    yield "stdio: pipelined", over_stdio_pipelined(stdio, _PIPELINED)


def report(figures: Figures) -> Iterator[str]:
    """A line a measure: medians, and the ratio of the medians."""
    yield "  ".join(head.rjust(10) if head != HEADS[0] else head.ljust(24) for head in HEADS)
    for title, row in figures.items():
        ours, bare = (median(row[name]) for name in (TOOLSPAN, BARE))
        yield f"{title:24}  {ours:10.1f}  {bare:10.1f}  {ours / bare:10.2f}"


def main() -> None:
    """Measure, and print the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.processor", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="how many rounds (default: 15)")
    for line in report(measured(parser.parse_args().rounds)):
        print(line)


if __name__ == "__main__":
    main()
