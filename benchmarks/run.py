"""One run: every measure on every server, in turns, so that what else the machine does hits all alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from .load import Http
from .measures.ask import ask_cpu_ms
from .measures.formats import first_request_ms
from .measures.growth import list_and_call, load_ms
from .measures.memory import resident_after_calls
from .measures.start import start_to_list
from .measures.stdio_calls import one_by_one, pipelined
from .messages import ERAS
from .processes import pinned
from .servers import Server
from .stdio import Stdio

START = "start to first tools/list, 3 tools (ms)"
START_MANY = "start to first tools/list, 1,000 tools (ms)"
ONE_CALL = "stdio: one call (ms)"
PIPELINED = "stdio: pipelined (calls/s)"
MEMORY = "stdio: memory (MiB)"
CONNECTIONS = 8


def http_calls(era: str) -> str:
    """The name of a measure."""
    return f"HTTP {era} (calls/s)"


def http_slowest(era: str) -> str:
    """The name of a measure."""
    return f"HTTP {era}, 99th percentile (ms)"


MEASURES = (
    START,
    START_MANY,
    ONE_CALL,
    PIPELINED,
    *(title(era) for era in ERAS for title in (http_calls, http_slowest)),
    MEMORY,
)

ASK = "toolspan ask, offline (ms of processor time)"
RENDER = "first request with 1,000 tools, slowest format (ms)"
LOAD, LIST, CALL = "load the config (ms)", "first tools/list (ms)", "one call (ms)"


@dataclass(frozen=True)
class Plan:
    """How long a run measures."""

    rounds: int = 7
    calls: int = 500
    seconds: float = 1.0
    sizes: Sequence[int] = (1, 10, 100, 1_000, 10_000)


QUICK = Plan(rounds=1, calls=8, seconds=0.05, sizes=(1, 10))


@dataclass
class Figures:
    """Medians: of each measure by server, of what grows by the number of tools, of the bridge's own."""

    by_measure: dict[str, dict[str, float]] = field(default_factory=dict[str, "dict[str, float]"])
    by_size: dict[str, dict[int, float]] = field(default_factory=dict[str, "dict[int, float]"])
    of_bridge: dict[str, float] = field(default_factory=dict[str, float])
    pinned: bool = False


Note = Callable[[str], None]


def measured(found: Sequence[Server], plan: Plan, note: Note) -> Figures:
    """Run ``plan``; ``note`` is told what is under way."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    growth: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    bridge: dict[str, list[float]] = {ASK: [], RENDER: []}
    with pinned() as is_pinned:
        for number in range(plan.rounds):
            order = found if number % 2 else list(reversed(found))
            note(f"round {number + 1} of {plan.rounds}")
            for server in order:
                for title, value in _starts(server):
                    values[title][server.name].append(value)
            for server in order:
                for title, value in _calls(server, plan):
                    values[title][server.name].append(value)
            bridge[ASK].append(ask_cpu_ms())
            bridge[RENDER].append(first_request_ms(1_000))
            for size in plan.sizes:
                growth[LOAD][size].append(load_ms(size))
            for title, figures in zip((LIST, CALL), list_and_call(plan.sizes, plan.calls), strict=True):
                for size, value in figures.items():
                    growth[title][size].append(value)
    by_measure = {title: {name: median(row[name]) for name in row} for title, row in values.items()}
    by_size = {title: {size: median(row[size]) for size in row} for title, row in growth.items()}
    of_bridge = {title: median(times) for title, times in bridge.items()}
    return Figures(by_measure, by_size, of_bridge, is_pinned)


def _starts(server: Server) -> Iterator[tuple[str, float]]:
    yield START, start_to_list(server, 3)
    if server.any_number:
        yield START_MANY, start_to_list(server, 1_000)
    yield MEMORY, resident_after_calls(server)


def _calls(server: Server, plan: Plan) -> Iterator[tuple[str, float]]:
    with Stdio(server.stdio(3)) as client:
        one_by_one(client, plan.calls // 4)
        yield ONE_CALL, one_by_one(client, plan.calls)
        yield PIPELINED, pipelined(client, plan.calls, plan.seconds)
    with Http(server.http) as http:
        for era in server.eras:
            http.drive(era, connections=CONNECTIONS, seconds=plan.seconds / 4)
            outcome = http.drive(era, connections=CONNECTIONS, seconds=plan.seconds)
            yield http_calls(era), outcome.per_second
            yield http_slowest(era), outcome.percentile(0.99)
