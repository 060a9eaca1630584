"""What the figures are to reach, and whether they do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .messages import ERAS
from .run import (
    ASK,
    CALL,
    LIST,
    LOAD,
    MEMORY,
    ONE_CALL,
    PIPELINED,
    RENDER,
    START,
    START_MANY,
    Figures,
    http_calls,
    http_slowest,
)
from .servers import BARE, FASTMCP, LOW_LEVEL, TOOLSPAN


@dataclass(frozen=True)
class Target:
    """One target: what is wanted, the figure, whether that is it."""

    wanted: str
    figure: str
    reached: bool


def targets(figures: Figures) -> Iterator[Target]:
    """Every target that can be told from ``figures``: its peer was measured."""
    yield from _start(figures)
    yield from _stdio(figures)
    for era in ERAS:
        yield from _http(figures, era)
    memory = figures.by_measure[MEMORY][TOOLSPAN]
    yield Target("memory of a stdio server with 3 tools at most 36 MiB", f"{memory:.1f} MiB", memory <= 36)
    yield from _growth(figures)
    yield from _bridge(figures)


def _at_most(
    figures: Figures, measure: str, peer: str, factor: float, words: str, of: str = ""
) -> Iterator[Target]:
    rows = figures.by_measure[measure]
    base = figures.by_measure[of or measure].get(peer)
    if base is not None:
        ratio = rows[TOOLSPAN] / base
        yield Target(words, f"{ratio:.2f}", ratio <= factor)


def _at_least(figures: Figures, measure: str, peer: str, factor: float, words: str) -> Iterator[Target]:
    rows = figures.by_measure[measure]
    if peer in rows:
        ratio = rows[TOOLSPAN] / rows[peer]
        yield Target(words, f"{ratio:.2f}", ratio >= factor)


def _start(figures: Figures) -> Iterator[Target]:
    rows = (
        (LOW_LEVEL, 1 / 5, "1/5 (0.20)"),
        (FASTMCP, 1 / 5, "1/5 (0.20)"),
    )
    for peer, share, words in rows:
        yield from _at_most(figures, START, peer, share, f"start at most {words} of {peer}")
        wanted = f"start with 1,000 tools at most 2 × {words} of {peer} with 3"
        yield from _at_most(figures, START_MANY, peer, 2 * share, wanted, of=START)


def _stdio(figures: Figures) -> Iterator[Target]:
    yield from _at_most(figures, ONE_CALL, BARE, 2, "one stdio call at most 2 × the bare loop")
    wanted = f"pipelined calls/s at least 7 × {LOW_LEVEL}"
    yield from _at_least(figures, PIPELINED, LOW_LEVEL, 7, wanted)


def _http(figures: Figures, era: str) -> Iterator[Target]:
    wanted = f"HTTP {era}: calls/s at least 0.75 × the bare ASGI app"
    yield from _at_least(figures, http_calls(era), BARE, 0.75, wanted)
    wanted = f"HTTP {era}: calls/s at least 2.5 × {LOW_LEVEL}"
    yield from _at_least(figures, http_calls(era), LOW_LEVEL, 2.5, wanted)
    slowest = figures.by_measure[http_slowest(era)]
    peers = {name: value for name, value in slowest.items() if name not in (TOOLSPAN, BARE)}
    if peers:
        best = min(peers, key=lambda name: peers[name])
        figure = f"{slowest[TOOLSPAN]:.2f} ms; best peer: {best}, {peers[best]:.2f} ms"
        wanted = f"HTTP {era}: 99th percentile no worse than any peer's"
        yield Target(wanted, figure, slowest[TOOLSPAN] <= peers[best])


def _bridge(figures: Figures) -> Iterator[Target]:
    for title, most in ((ASK, 500), (RENDER, 100)):
        value = figures.of_bridge[title]
        yield Target(f"{title}: at most {most}", f"{value:.0f} ms", value <= most)


def _growth(figures: Figures) -> Iterator[Target]:
    calls = figures.by_size[CALL]
    few, many = min(calls), max(calls)
    ratio = calls[many] / calls[few]
    wanted = f"one call with {many:,} tools costs what it does with {few:,} (within 15 %)"
    yield Target(wanted, f"{ratio:.2f} ×", ratio <= 1.15)
    for title in (LOAD, LIST):
        rows = figures.by_size[title]
        large, larger = sorted(rows)[-2:]
        growth, linear = rows[larger] / rows[large], larger / large
        wanted = (
            f"{title.removesuffix(' (ms)')}: {larger:,} tools at most {linear:g} × {large:,} (within 10 %)"
        )
        yield Target(wanted, f"{growth:.1f} ×", growth <= linear * 1.1)
