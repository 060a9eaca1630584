"""``python -m benchmarks`` (and ``make bench``).

docs/explanation/benchmarks.md says what is measured and how.
"""

from __future__ import annotations

import argparse
import sys

from .install import byte_compile, install
from .report import report, write
from .run import QUICK, Plan, measured
from .servers import TOOLSPAN, servers


def main() -> None:
    """Measure, and print the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--install", action="store_true", help="install the missing peers into .venv/bench")
    parser.add_argument("--quick", action="store_true", help="one short round: shows that it works")
    parser.add_argument("--rounds", type=int, help="how many rounds (default: 7)")
    parser.add_argument("--only", action="append", metavar="NAME", help="this peer only; may be repeated")
    parser.add_argument("--write", action="store_true", help="put the results into the page of benchmarks")
    options = parser.parse_args()
    if options.install:
        install()
    byte_compile()
    found, missing = servers()
    if options.only:
        found = [server for server in found if server.name in (TOOLSPAN, *options.only)]
    plan = QUICK if options.quick else Plan(rounds=options.rounds or Plan.rounds)
    for line in missing:
        print(line, file=sys.stderr)
    figures = measured(found, plan, lambda line: print(line, file=sys.stderr, flush=True))
    text = report(figures, found, missing, plan)
    print(text)
    if options.write:
        write(text)


if __name__ == "__main__":
    main()
