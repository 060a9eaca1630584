"""The benchmarks run, beside a peer, and say what they measured."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import isolation
from benchmarks.messages import ERAS, check, echo
from benchmarks.report import DOCUMENT, report
from benchmarks.run import (
    ASK,
    CALL,
    LIST,
    LOAD,
    MEASURES,
    MEMORY,
    ONE_CALL,
    PIPELINED,
    RENDER,
    START,
    START_MANY,
    Figures,
    Plan,
    http_calls,
    http_slowest,
)
from benchmarks.servers import BARE, FASTMCP, LOW_LEVEL, TOOLBOX, TOOLSPAN, TYPESCRIPT
from benchmarks.targets import targets

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PEERS = (BARE, LOW_LEVEL, FASTMCP, TOOLBOX)


def figures_of(**better: float) -> Figures:
    """Figures in which Toolspan is ``better[measure]`` times as good as every peer."""
    by_measure: dict[str, dict[str, float]] = {}
    for title in MEASURES:
        factor = better.get("rate", 1.0) if "calls/s" in title else 1 / better.get("time", 1.0)
        by_measure[title] = {TOOLSPAN: 100 * factor} | dict.fromkeys(PEERS, 100.0)
    by_measure[MEMORY][TOOLSPAN] = better.get("memory", 35.0)
    many = better.get("many", 10.0)
    by_size = {title: {1: 1.0, 1_000: 10.0, 10_000: 10.0 * many} for title in (LOAD, LIST)}
    by_size[CALL] = {1: 1.0, 1_000: 1.0, 10_000: better.get("call", 1.0)}
    of_bridge = {ASK: 2_400 / better.get("time", 1.0), RENDER: 480 / better.get("time", 1.0)}
    return Figures(by_measure, by_size, of_bridge)


@pytest.mark.requirement("I2.8.6", "I3.4.1", "I3.4.2", "I3.4.3", "I3.4.4", "I3.4.5")
@pytest.mark.requirement("I9.4.3", "I9.4.6", "I9.4.7")
def test_one_run_measures_everything_side_by_side() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--only", LOW_LEVEL, "--only", BARE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^\| +\| +{TOOLSPAN} \| +{BARE} \| +{LOW_LEVEL} \|$", done.stdout, re.M)
    for measure in (*MEASURES, LOAD, LIST, CALL, ASK, RENDER):
        row = re.search(rf"^\| {re.escape(measure)} +((?:\| +[\d,.–]+ )+)\|$", done.stdout, re.M)
        assert row is not None, done.stdout
        ours = row[1].replace("|", " ").split()[0]
        assert float(ours.replace(",", "")) > 0
    assert f"{TOOLSPAN}: " in done.stdout and "processors" in done.stdout and "UTC" in done.stdout


@pytest.mark.requirement("I9.4.1", "I9.4.2")
@pytest.mark.skipif(sys.platform != "linux", reason="processor time is read from /proc")
def test_what_a_call_costs_the_processor_is_told_beside_the_bare_server() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.processor", "--rounds", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^(.+?) {2,}([\d.]+) +([\d.]+) +([\d.]+)$", done.stdout, re.M)
    assert [row[0] for row in rows] == [
        *(f"HTTP {era}" for era in ERAS),
        "stdio: one call",
        "stdio: pipelined",
    ]
    for _, ours, bare, ratio in rows:
        assert float(ours) / float(bare) == pytest.approx(float(ratio), rel=0.1)


@pytest.mark.requirement("I3.4.1", "I3.4.2", "I3.4.3", "I3.4.4", "I3.4.5")
def test_a_target_is_reached_or_not_by_its_own_figure() -> None:
    good = list(targets(figures_of(rate=8.0, time=6.0)))
    assert all(target.reached for target in good) and len(good) == 18
    assert not [
        t for t in targets(figures_of(rate=0.7, time=0.4, memory=37, many=11.5, call=1.2)) if t.reached
    ]
    late = [target.wanted for target in targets(figures_of(rate=8.0, time=4.0)) if not target.reached]
    starts = [f"start at most 1/5 (0.20) of {peer}" for peer in (LOW_LEVEL, FASTMCP)]
    assert late == [*starts, f"{ASK}: at most 500", f"{RENDER}: at most 100"]


def test_a_peer_that_is_not_here_is_named_and_leaves_no_target() -> None:
    figures = figures_of(rate=8.0, time=6.0)
    for row in figures.by_measure.values():
        row.pop(FASTMCP, None)
    assert not [target for target in targets(figures) if FASTMCP in target.wanted]
    text = report(figures, [], [f"{TYPESCRIPT} is not here"], Plan(rounds=1))
    assert f"- {TYPESCRIPT} is not here" in text and "1 round" in text


def test_an_answer_to_something_else_is_not_counted() -> None:
    check(b'{"result":{"content":[{"text":"call 7"}]}}', 7)
    for answer in (b'{"result":"call 8"}', b'{"error":"call 7"}', b'{"result":"call 7","isError":true}'):
        with pytest.raises(RuntimeError, match="request 7"):
            check(answer, 7)
    assert b'"call 7"' in echo(7) and b"2026-07-28" in echo(7, era=ERAS[0])


def test_the_document_holds_the_figures_of_a_run() -> None:
    text = DOCUMENT.read_text("utf-8")
    measured = text.partition("<!-- measured -->")[2].partition("<!-- end of measured -->")[0]
    over_http = [title(era) for era in ERAS for title in (http_calls, http_slowest)]
    for title in (START, START_MANY, ONE_CALL, PIPELINED, MEMORY, *over_http):
        assert f"| {title} " in measured
    assert "| target " in measured


@pytest.mark.requirement("I9.2.14")
def test_a_handlers_call_is_measured_in_a_thread_and_in_a_worker_process() -> None:
    thread, process = isolation.measured(calls=3, large=1)
    assert (thread[0], process[0]) == ("thread", "process")
    assert all(len(row) == len(isolation.HEADS) and float(row[2]) > 0 for row in (thread, process))
    assert thread[4] == "–"
    if sys.platform == "linux":
        assert int(process[4]) > 5
