"""What the tests rest on: every part has its line, bounds are far away, busy loops end with their command."""

from __future__ import annotations

import ast
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cost import at_most, reference
from tests.support.waiting import BOUND_S, eventually, gone

TESTS = Path(__file__).parent
SUPPORT = TESTS / "support"
FARTHEST_FIRST = 60
BUSY = [sys.executable, "-m", "tests.support.busy"]


@pytest.mark.requirement("I10.5.12")
def test_every_part_of_the_support_has_its_line_and_every_line_its_part() -> None:
    parts = {
        path.name + ("/" if path.is_dir() else "")
        for path in SUPPORT.iterdir()
        if not path.name.startswith("__") and path.name != "README.md"
    }
    text = (SUPPORT / "README.md").read_text()
    lines = re.findall(r"^- `([^`]+)`: [^\n]+\.$", text, re.M)
    assert sorted(lines) == sorted(parts)
    assert text.count("\n- ") == len(lines)


def near_bounds(path: Path) -> Iterator[str]:
    """Where a test measures what others do by a clock, or gives up what hangs after less than a minute."""
    text = path.read_text()
    if not _CALLS.search(text):
        return
    for node in ast.walk(ast.parse(text)):
        place = f"{path.relative_to(TESTS)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
            times = [node.test.left, *node.test.comparators]
            upper = any(isinstance(each, ast.Lt | ast.LtE) for each in node.test.ops)
            if upper and any(map(_is_elapsed, times)):
                yield f"{place}: a time may not be more than a bound: see tests/support/cost.py"
        elif isinstance(node, ast.Call) and _name(node) == "fail_after":
            given = node.args[0]
            if isinstance(given, ast.Constant) and float(given.value) < FARTHEST_FIRST:  # type: ignore[arg-type]
                yield f"{place}: {given.value} s may pass on a slow machine: BOUND_S"


CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time"}
_CALLS = re.compile(rf"\b(?:fail_after|{'|'.join(sorted(CLOCKS))})\(")  # few files need to be parsed


def _is_elapsed(node: ast.expr) -> bool:
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)):
        return False
    return isinstance(node.left, ast.Call) and _name(node.left) in CLOCKS


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


@pytest.mark.long
@pytest.mark.requirement("I10.6.1")
def test_no_test_fails_because_a_machine_is_slow() -> None:
    found = [fault for path in sorted(TESTS.rglob("*.py")) for fault in near_bounds(path)]
    assert found == []


_LOOKS = {"count", "inner_text", "is_checked", "is_enabled", "is_visible"}
"""What Playwright's locators tell at once, whatever is still on its way."""


def hurried(path: Path) -> Iterator[str]:
    """Where a test goes on whether or not what it waited for came, or looks at a page before it is there."""
    text = path.read_text()
    is_page = path.parent == TESTS / "bridge" / "web" / "page"
    if not (is_page or "eventually(" in text):
        return
    for node in ast.walk(ast.parse(text)):
        place = f"{path.relative_to(TESTS)}:{getattr(node, 'lineno', 0)}"
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and _name(node.value) == "eventually"
        ):
            yield f"{place}: assert what eventually says"
        elif is_page and isinstance(node, ast.Assert):
            calls = [each for each in ast.walk(node.test) if isinstance(each, ast.Call)]
            if any(_name(each) in _LOOKS and not each.args for each in calls):
                yield f"{place}: Playwright's expect waits until it holds"


@pytest.mark.long
@pytest.mark.requirement("I10.6.1")
def test_no_test_looks_before_what_it_waits_for_is_there() -> None:
    found = [fault for path in sorted(TESTS.rglob("*.py")) for fault in hurried(path)]
    assert found == []


@pytest.mark.long
@pytest.mark.requirement("I10.6.1")
def test_work_is_measured_against_work() -> None:
    def work(units: int) -> None:
        for _ in range(3 * units):
            reference()

    with at_most(units=40):
        work(2)
    with pytest.raises(AssertionError, match="units of work, more than 2"), at_most(units=2):
        work(10)


@pytest.mark.requirement("I10.6.2")
@pytest.mark.parametrize("code", [0, 5])
def test_a_command_runs_beside_busy_loops_which_end_with_it(code: int) -> None:
    command = [*BUSY, sys.executable, "-c", f"import sys; sys.exit({code})"]
    done = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=False)
    first, last = done.stdout.splitlines()
    pids = [int(word) for word in first.removeprefix("busy loops: ").split()]
    assert (done.returncode, len(pids)) == (code, 2)
    assert all(map(gone, pids))
    assert "beside 2 busy loops; load average " in last


@pytest.mark.requirement("I10.6.2")
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_loops_end_however_their_parent_ends(number: signal.Signals) -> None:
    command = [*BUSY, sys.executable, "-c", "input()"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=TESTS.parent, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()[2:]]
        assert pids and not any(map(gone, pids))
        process.send_signal(number)
        process.stdin.close()
        process.wait(BOUND_S)
    assert eventually(lambda: all(map(gone, pids)))
