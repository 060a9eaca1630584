"""The benchmark of the gateway measures what it says; streams at once and requests cost a bounded amount."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

import pytest

from benchmarks.gateways import FOLDER, TOOLS, Gateway, running
from benchmarks.measures.gateway import one_request, streams
from tests.support.cost import reference
from tests.support.waiting import BOUND_S

pytestmark = pytest.mark.long

_MOST_MEBIBYTES = 400_000_000 / 2**20
_FEW_FILES = 256


@contextmanager
def _model() -> Generator[int]:
    with subprocess.Popen([sys.executable, FOLDER / "model.py"], stdout=subprocess.PIPE, text=True) as model:
        try:
            assert model.stdout is not None
            yield int(model.stdout.readline())
        finally:
            model.kill()


@contextmanager
def _few_files() -> Generator[None]:
    """What is started in the block may open few files, unless it asks for more."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_FEW_FILES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def _gateway() -> Generator[Gateway]:
    """A gateway with tools, before the benchmark's model."""
    with _model() as model, ExitStack() as stack:
        with _few_files():
            gateway = stack.enter_context(running(f"toolspan, {TOOLS} tools", model))
        yield gateway


@pytest.mark.requirement("I15.5.1")
def test_500_streams_at_once_are_each_whole_and_their_own_in_at_most_400_mb() -> None:
    with _gateway() as gateway:
        held = streams(gateway.port, gateway.model, 500, deltas=10)
        assert held.whole == held.count == 500
        assert gateway.peak_mb() <= _MOST_MEBIBYTES


@pytest.mark.requirement("I15.5.2")
def test_requests_take_a_bounded_amount_of_work_each() -> None:
    with _gateway() as gateway:
        one_request(gateway.port, gateway.model, 20)
        unit, before = reference(), gateway.processor_s()
        one_request(gateway.port, gateway.model, 100)
        spent = gateway.processor_s() - before
        unit = max(unit, reference())
        assert spent < 100 * unit, f"a request took {spent / unit / 100:.2f} units of work"


@pytest.mark.requirement("I15.5.3")
def test_the_benchmark_tells_of_each_gateway_and_of_the_page() -> None:
    small = ("--rounds", "1", "--requests", "2", "--streams", "8", "--stream-rounds", "1")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gateway", *small, "--only", "toolspan"],
        capture_output=True,
        text=True,
        timeout=4 * BOUND_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("|")][2:]
    assert [row[0] for row in rows] == ["no gateway", "bare forwarding app", "toolspan"]
    assert all(row[10] == "8 of 8" for row in rows)
    assert all(float(row[4]) > 0 and float(row[8]) > 0 and float(row[11]) > 0 for row in rows[1:])
    sizes = re.search(r"(\d+) kB as sent, (\d+) kB uncompressed", done.stdout)
    assert sizes is not None, done.stdout
    assert 0 < int(sizes[1]) < int(sizes[2]) <= 300
