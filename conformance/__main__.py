"""``python -m conformance`` (and ``make conformance``): the protocol's own suites, against a config file and
against the bridge's toolbox.

Two versions of ``@modelcontextprotocol/conformance`` run against ``toolspan serve --config
configs/conformance.yaml --transport http``: 0.1.16 its active suite, 0.2.0-alpha.12 what 2025-11-25 and
2026-07-28 require, with the scenarios of the tasks and skills extensions and of header validation. The same
versions' client scenarios run ``python -m conformance.client``. Ends with 1 when a check fails or something
that should have run did not.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from .install import Missing, installed
from .run import Outcome, Scenario, measured
from .serving import CONFIG
from .suites import NOT_AGGREGATED, SUITES, of_aggregate
from .table import failures, table


def main() -> int:
    """Run the suites and print their table."""
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("--config", type=Path, default=CONFIG, help="what to serve (default: %(default)s)")
    parser.add_argument("--role", choices=["server", "client"], help="only the suites of one side")
    parser.add_argument(
        "--aggregate", action="store_true", help="test a server that has the config's behind it"
    )
    options = parser.parse_args()
    suites = [suite for suite in SUITES if options.role in (None, suite.role)]
    if options.aggregate:
        suites = of_aggregate()
        print(f"left out, which an aggregate does not have: {', '.join(sorted(NOT_AGGREGATED))}", end="\n\n")
    try:
        programs = [installed(suite.package) for suite in suites]
    except Missing as missing:
        print(f"conformance: {missing}", file=sys.stderr)
        return 1
    outcomes: list[Outcome] = []

    def kept(scenario: Scenario) -> bool:
        return not options.aggregate or scenario.name not in NOT_AGGREGATED

    for each in measured(
        list(zip(suites, programs, strict=True)), options.config, aggregate=options.aggregate
    ):
        outcome = replace(each, scenarios=tuple(filter(kept, each.scenarios)))
        print(table([outcome]), end="\n\n", flush=True)
        outcomes.append(outcome)
    faults = failures(outcomes)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
