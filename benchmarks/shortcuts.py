"""``python -m benchmarks.shortcuts``: what the parts that only save time save.

The server without one of them stands beside the server with all; they take turns, and
what is counted is processor time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from statistics import median

from .load import Http
from .measures.processor import over_http, over_stdio_pipelined
from .messages import ERAS
from .processes import pinned
from .run import CONNECTIONS
from .servers import config_of
from .stdio import Stdio

ALL = "with all of them"
_CALLS = 2_000
_SECONDS = 0.3
_TOOLS = 10_000

_NO_EAGER_TASKS = (
    "from toolspan_server.common.eager_tasks import EagerTasks\n"
    "EagerTasks.start = lambda self, work: self._loop.create_task(work)\n"
)
OVER_HTTP: Mapping[str, str] = {
    ALL: "",
    "without the cache of heads": (
        "from toolspan_server.http_server.connection.head_cache import HeadCache\n"
        "HeadCache.read = lambda self, data: None\n"
        "HeadCache.learn = lambda self, data, scope, body: None\n"
    ),
    "without answers in one write": (
        "from toolspan_server.http_server.connection.request_cycle import RequestCycle\n"
        "RequestCycle.whole = lambda self, body: False\n"
    ),
    "without eager tasks": _NO_EAGER_TASKS,
}
"""What switches a part off before the server starts."""

OVER_STDIO: Mapping[str, str] = {
    ALL: "",
    "without eager tasks": _NO_EAGER_TASKS,
    "threading.Event for Flag": (
        "import threading\nfrom toolspan_server.common import flags\nflags.Flag = threading.Event\n"
    ),
}
LOADING: Mapping[str, str] = {
    ALL: "",
    "garbage collector not paused": "load.paused = nullcontext\n",
}

_SERVE = "import sys\nfrom toolspan_server.cli.main import main\nsys.exit(main(sys.argv[1:]))\n"
_BEFORE_LOAD = "from contextlib import nullcontext\nfrom toolspan_server.config.loading import load\n"
_LOAD = (
    "import sys, time\nbegin = time.process_time()\nload.load_config(sys.argv[1])\n"
    "print(time.process_time() - begin)\n"
)

Figures = Mapping[tuple[str, str], Sequence[float]]


def measured(rounds: int) -> Figures:
    """The figures of each round, by measure and what was switched off."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    with pinned(), ExitStack() as stack:
        over_http_ = {name: stack.enter_context(Http(_http(off))) for name, off in OVER_HTTP.items()}
        stdio = {name: stack.enter_context(Stdio(serving(off))) for name, off in OVER_STDIO.items()}
        for number in range(rounds + 1):
            found = [
                *(
                    (
                        f"HTTP {era}, µs a call",
                        name,
                        over_http(server, era, connections=CONNECTIONS, seconds=_SECONDS),
                    )
                    for era in ERAS
                    for name, server in over_http_.items()
                ),
                *(
                    ("stdio, µs a call", name, over_stdio_pipelined(server, _CALLS))
                    for name, server in stdio.items()
                ),
            ]
            for measure, name, value in found if number else []:  # the first round warms up
                values[measure, name].append(value)
    for _ in range(rounds):
        for name, off in LOADING.items():
            values[f"loading {_TOOLS:,} tools, s", name].append(_load(off))
    return values


def serving(off: str) -> list[str]:
    """The command of a server, on stdio unless more is said, that runs ``off`` first."""
    return [sys.executable, "-c", off + _SERVE, "--config", str(config_of(3))]


def _http(off: str) -> Callable[[int], list[str]]:
    return lambda port: [*serving(off), "--transport", "http", "--port", str(port)]


def _load(off: str) -> float:
    command = [sys.executable, "-c", _BEFORE_LOAD + off + _LOAD, str(config_of(_TOOLS))]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def report(figures: Figures) -> Iterator[str]:
    """A line a measure and switched-off part: medians, and the ratio to the server with all parts."""
    for (measure, name), values in figures.items():
        ratio = median(values) / median(figures[measure, ALL])
        yield f"{measure:34}  {name:30}  {median(values):8.3g}  × {ratio:.3f}"


def main() -> None:
    """Measure, and print the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shortcuts", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="how many rounds (default: 9)")
    for line in report(measured(parser.parse_args().rounds)):
        print(line)


if __name__ == "__main__":
    main()
