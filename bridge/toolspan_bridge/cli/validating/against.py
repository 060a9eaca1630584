"""``validate --against``: the suite with the tools of this config and with those of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from ...errors import UsageError
from ...sessions.chosen.config import ConfigChoice
from ...sessions.session import Session, opened
from ..host import TERMINAL
from ..terminal.output import emit_json, print_note
from .definition_differences import show_differences
from .sides import RunSuite, exit_code_of, trials_of

if TYPE_CHECKING:
    from ...validation import Suite, ValidationReport


def compared_with(
    other: str, renames: Sequence[str], choice: ConfigChoice, suite: Suite, run: RunSuite, *, as_json: bool
) -> int:
    """Run ``suite`` with the tools of ``choice`` and with those of the config ``other``, which has the other
    names of ``renames``; print the differences, and give the exit code."""
    from ...validation.definitions_ab import differences

    before, now = anyio.run(_reports, other, renames, choice, suite, run)
    found = differences(trials_of(before), trials_of(now))
    if as_json:
        told = [each.as_dict() for each in found]
        emit_json({"differences": told, "before": before.as_dict(), "now": now.as_dict()})
    else:
        show_differences(found)
    return exit_code_of((before, now), found)


async def _reports(
    other: str, renames: Sequence[str], choice: ConfigChoice, suite: Suite, run: RunSuite
) -> tuple[ValidationReport, ValidationReport]:
    """The reports with the tools of ``choice``, and of ``other``. The latter is made first: where both are
    kept in one store, the record of the config is the newer one, and holds."""
    from ...validation.definitions_ab import Renames

    async with opened(choice, TERMINAL) as mine:
        names = [tool.name for tool in mine.tools()]
        suite_of_other = Renames.parsed(renames, names).applied_to(suite)
        _check(suite, mine, "the config")
        print_note(f"now: with the tools of {other}, which are asked first; before: with those of the config")
        async with opened(replace(choice, paths=(other,)), TERMINAL) as others:
            _check(suite_of_other, others, other)
            now = await run(others, suite_of_other)
        return await run(mine, suite), now


def _check(suite: Suite, session: Session, name: str) -> None:
    """Raise ``UsageError`` for tools that ``suite`` names and ``session`` has not, and what else the suite
    cannot mean with them."""
    if missing := suite.missing_tools(session.tools()):
        raise UsageError(
            f"{name} has no tool {', '.join(missing)}, which the suite names, so nothing was run or recorded "
            "(--rename TOOL=NAME says what a tool of the config is called there)"
        )
    if faults := suite.faults_with(session.tools()):
        raise UsageError(f"{name}: {faults[0].message}; nothing was run or recorded")
