"""One attack, made and measured."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.cost import reference
from tests.support.loop_watch import allowed_seconds, stalls
from tests.support.processes import descriptors, resident
from tests.support.served import Served, gateway_server, http_server
from tests.support.steady import steady_caller

from .attack import Attack, Target

MIB = 2**20
_EVERY_S = 0.02
_BACK_WITHIN_S = 20.0
_EACH_S = 0.1


@dataclass
class Figures:
    """What an attack cost: memory in bytes, descriptors, the seconds of the second client's calls and
    those that the server computed during one."""

    memory: tuple[int, int, int] = (0, 0, 0)
    descriptors: tuple[int, int] = (0, 0)
    slowest: float = 0.0
    busiest: float = 0.0
    calls: int = 0
    faults: list[str] = field(default_factory=list[str])


def measured(attack: Attack) -> Figures:
    """Make ``attack`` on a server of its own."""
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        config = attack.config(Path(folder))
        watch = Path(folder) / "stalls"
        serve = gateway_server if attack.gateway else http_server
        with serve(config, *attack.options, env=attack.env, watch=watch) as server:
            at_start = len(stalls(watch))
            try:
                _attacked(attack, Target(server, Path(folder)), figures)
            except Exception as fault:  # whatever went wrong, the others are to be made as well
                figures.faults.append(f"{type(fault).__name__}: {str(fault)[:500]}")
            if server.process.poll() is not None:
                figures.faults.append(f"the server ended with {server.process.returncode}")
            log = server.errors.text
            if (at := log.find("Traceback")) >= 0:
                figures.faults.append(
                    f"the server's log has a traceback: {log[at:][:2_000]} … {log[-2_000:]}"
                )
            allowed = allowed_seconds() * attack.stalls
            for stall in sorted(stalls(watch)[at_start:], key=lambda each: -each.seconds):
                if stall.seconds > allowed and not stall.is_import:
                    what = (
                        f"the event loop computed for {stall.seconds:.2f} s at once, more than {allowed:.2f}"
                    )
                    figures.faults.append(f"{what}: {stall.where[-1_000:]}")
    return figures


def _attacked(attack: Attack, target: Target, figures: Figures) -> None:
    pid = target.server.process.pid
    with steady_caller(target.server.address, attack.steady, pid) as caller:
        before, files = resident(pid), descriptors(pid)
        with _highest(pid) as highest:
            attack.run(target)
        still = _still_open(target.server, files + attack.descriptors)
    figures.calls, figures.slowest, figures.busiest = len(caller.times), caller.slowest, caller.busiest
    figures.memory = (before, highest[0], resident(pid))
    figures.descriptors = (files, still)
    figures.faults += _exceeded(attack, figures)


def _exceeded(attack: Attack, figures: Figures) -> Iterator[str]:
    """Each bound of the attack that it went over."""
    before, highest, _ = figures.memory
    if (grown := highest - before) > attack.memory_mib * MIB:
        yield f"memory grew by {grown // MIB} MiB; it may by {attack.memory_mib}"
    files, still = figures.descriptors
    if still > files + attack.descriptors:
        yield f"{still} descriptors are open, {files} were before"
    if figures.busiest > attack.units * reference():
        yield f"the server computed for {figures.busiest:.1f} s while the second client waited"


@contextmanager
def _highest(pid: int) -> Iterator[list[int]]:
    """The most memory that the process has while the block runs, looked at 50 times a second."""
    seen, ended = [resident(pid)], threading.Event()

    def look() -> None:
        while not ended.wait(_EVERY_S):
            try:
                seen[0] = max(seen[0], resident(pid))
            except (FileNotFoundError, IndexError):  # it has ended, which is told elsewhere
                return

    watching = threading.Thread(target=look)
    watching.start()
    try:
        yield seen
    finally:
        ended.set()
        watching.join()


def _still_open(server: Served, most: int) -> int:
    """How many descriptors are open, once they are no more than ``most`` or time is up."""
    tries = int(_BACK_WITHIN_S / _EACH_S)
    pause = threading.Event()
    while descriptors(server.process.pid) > most and (tries := tries - 1):
        pause.wait(_EACH_S)
    return descriptors(server.process.pid)
