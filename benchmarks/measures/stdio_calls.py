"""Calls over standard input and output."""

from __future__ import annotations

from statistics import median
from time import perf_counter

from ..messages import check, echo
from ..stdio import Stdio


def one_by_one(client: Stdio, calls: int, tool: str = "echo") -> float:
    """Milliseconds a call, median, each sent after the answer to the one before."""
    times: list[float] = []
    for number in range(1, calls + 1):
        request = echo(number, tool)
        began = perf_counter()
        answer = client.ask(request)
        times.append(perf_counter() - began)
        check(answer, number)
    return median(times) * 1000


def pipelined(client: Stdio, calls: int, seconds: float) -> float:
    """Calls a second, all written without waiting: ``calls`` to find the pace, then for some ``seconds``."""
    pace = calls / client.pipelined(calls)
    count = max(calls, int(pace * seconds))
    return count / client.pipelined(count)
