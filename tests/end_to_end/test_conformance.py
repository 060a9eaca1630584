"""``make conformance``: the protocol's own suite against a server that is nothing but a config file.

It comes from npm: set TOOLSPAN_NODE_TESTS=1 to let the test install it into ``.venv/conformance``.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from conformance import install
from conformance.run import Outcome, Scenario
from conformance.suites import SUITES, of_aggregate
from conformance.table import failures, table
from tests.support.foreign_programs import NODE_TESTS

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
RUN_S = 900  # a hang; it takes two minutes on a machine of two processors


@pytest.mark.node
@pytest.mark.requirement("I4.1.1", "I4.1.2", "I12.2.50")
def test_the_config_file_alone_passes_the_whole_suite() -> None:
    if not NODE_TESTS:
        pytest.skip("NOT RUN: the conformance suite; set TOOLSPAN_NODE_TESTS=1 to install and run it")
    command = [sys.executable, "-m", "conformance"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=RUN_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for suite in SUITES:
        assert f"Conformance {suite.title}" in done.stdout


@pytest.mark.node
@pytest.mark.requirement("I15.4.26")
def test_the_suite_holds_through_an_aggregate_of_that_server() -> None:
    if not NODE_TESTS:
        pytest.skip("NOT RUN: the conformance suite; set TOOLSPAN_NODE_TESTS=1 to install and run it")
    command = [sys.executable, "-m", "conformance", "--aggregate"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=RUN_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for suite in of_aggregate():
        assert f"Conformance {suite.title}" in done.stdout


@pytest.mark.requirement("I4.1.2")
def test_without_npm_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(install, "FOLDER", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(install.Missing, match=r"npm is not here\. Install Node\.js 22 or newer"):
        install.installed(SUITES[0].package)


@pytest.mark.requirement("I4.1.2")
def test_the_table_counts_every_check_and_a_failed_one_fails_the_whole() -> None:
    good = Scenario("ping", Counter(SUCCESS=2, INFO=4), ())
    bad = Scenario("tools-list", Counter(SUCCESS=1, FAILURE=1), ("FAILURE tools: no list",))
    suite = SUITES[0]
    assert failures([Outcome(suite, (good,))]) == []
    assert failures([Outcome(suite, (good, bad))]) == [f"conformance {suite.title}: 1 checks failed"]
    assert failures([Outcome(suite, (good,), "did not run x")]) == [
        f"conformance {suite.title}: did not run x"
    ]
    assert table([Outcome(suite, (good, bad), seconds=12.3)]).splitlines() == [
        f"Conformance {suite.title} (12 s)",
        "scenario     passed   failed   warned  skipped",
        "ping              2        ·        ·        ·",
        "tools-list        1        1        ·        ·",
        "total             3        1        0        0",
        "  tools-list: FAILURE tools: no list",
    ]


@pytest.mark.requirement("I12.2.50")
def test_the_suites_of_the_client_are_those_of_both_packages_and_revisions() -> None:
    runs = {(suite.package.rpartition("@")[2], *suite.runs[0]) for suite in SUITES if suite.role == "client"}
    assert runs == {
        ("0.1.16", "--suite", "all"),
        ("0.2.0-alpha.12", "--requirements", "2025-11-25"),
        ("0.2.0-alpha.12", "--requirements", "2026-07-28"),
    }
