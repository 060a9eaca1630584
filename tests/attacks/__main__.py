"""Make the attacks that are named, or all, and print what they cost. Ends with 1 when one succeeded."""

from __future__ import annotations

import argparse
import sys

from .attack import Attack
from .found import attacks
from .measure import MIB, Figures, measured

_HEAD = ("attack", "", "memory MiB: before", "highest", "after", "descriptors", "slowest call", "calls")
_ROW = "{:32} {:9} {:>18} {:>8} {:>6} {:>12} {:>13} {:>6}"


def main() -> int:
    """Run the attacks one after the other."""
    known = attacks()
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(known)}")
    chosen: list[str] = parser.parse_args().names or list(known)
    if unknown := [name for name in chosen if name not in known]:
        parser.error(f"no such attack: {', '.join(unknown)}; there are {', '.join(known)}")
    if sys.platform != "linux":
        print("attacks: memory and descriptors are read from /proc, which only Linux has", file=sys.stderr)
        return 1
    print(_ROW.format(*_HEAD), flush=True)
    failed = sum(_told(name, known[name]) for name in chosen)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _told(name: str, attack: Attack) -> bool:
    """Make one attack and print its row; whether it succeeded, which is a failure."""
    figures = measured(attack)
    print(_ROW.format(name, attack.requirement, *_cells(figures)), flush=True)
    for fault in figures.faults:
        print(f"  FAILED ({attack.title}): {fault}", flush=True)
    return bool(figures.faults)


def _cells(figures: Figures) -> tuple[str, ...]:
    before, after = figures.descriptors
    memory = (f"{size / MIB:.0f}" for size in figures.memory)
    return (*memory, f"{before} → {after}", f"{figures.slowest * 1_000:.0f} ms", str(figures.calls))


if __name__ == "__main__":
    sys.exit(main())
