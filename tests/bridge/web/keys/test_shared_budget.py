"""One budget in several processes, and what is left of it when one is killed."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.waiting import BOUND_S
from toolspan_bridge.web.keys import KeyLimits, KeyStore

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.3.44")]


def spender(folder: Path, usd: float) -> subprocess.Popen[str]:
    started = subprocess.Popen(
        [sys.executable, "-m", "tests.support.budget_spender", str(folder), "team", str(usd)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"
    return started


def begun(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_processes_that_spend_one_budget_spend_it_whole_and_no_more(tmp_path: Path) -> None:
    with closing(KeyStore(tmp_path)) as store:
        key, _ = store.create("team", KeyLimits(usd_in_all=0.2))
        processes = [spender(tmp_path, 0.001) for _ in range(3)]
        for process in processes:
            begun(process)
        said = [process.communicate(timeout=BOUND_S)[0].split("\n") for process in processes]
        assert sum(lines.count("spent") for lines in said) == 200
        assert all("refused budget_exceeded" in lines for lines in said)
        spent = store.ledger.spent(key)
        assert (spent.usd_in_all, spent.tokens, spent.usd_held) == (0.2, 200, 0.0)
        assert spent.requests >= 200  # those that were refused count too


def test_what_a_killed_process_said_it_spent_is_in_the_books_after_a_restart(tmp_path: Path) -> None:
    with closing(KeyStore(tmp_path)) as store:
        store.create("team", KeyLimits(usd_in_all=1_000.0))
    told = 0
    for _ in range(5):
        process = spender(tmp_path, 0.001)
        begun(process)
        assert process.stdout is not None
        for _ in range(20):
            assert process.stdout.readline() == "spent\n"
            told += 1
        process.kill()
        told += process.communicate(timeout=BOUND_S)[0].count("spent")
    with closing(KeyStore(tmp_path)) as store:
        spent = store.ledger.spent(store.get("team"))
    assert told <= spent.tokens <= told + 5  # a kill may come before a word is said
    assert spent.usd_in_all == pytest.approx(spent.tokens * 0.001)
    assert spent.usd_held <= 5 * 0.001
