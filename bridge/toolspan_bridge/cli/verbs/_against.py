"""``validate --against``: the suite with the tools of this config and with those of another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio

from ...errors import UsageError
from ..asking.session import Session, opened
from ..inputs.options import ConfigChoice
from ..terminal.output import emit_json, print_note

if TYPE_CHECKING:
    from ...validation import Suite, Trial, ValidationReport
    from ...validation.definitions_ab import ModelDifference

Run = Callable[[Session, "Suite"], Awaitable["ValidationReport"]]
"""Puts a suite to the models with the tools of a session."""

EXIT_WORSE = 6


@dataclass(frozen=True, slots=True)
class Against:
    """The config ``other``, whose tools are compared with those of ``choice``; ``renames`` say which of its
    names are other ones."""

    choice: ConfigChoice
    other: str
    renames: tuple[str, ...] = ()

    def shown(self, suite: Suite, run: Run, *, as_json: bool) -> int:
        """Run ``suite`` both ways, print the differences, and give the exit code: 6 where a model is worse
        with the other tools by more than chance, that of a run that did not come to its end."""
        reports = anyio.run(self._reports, suite, run)
        found = _found(*reports)
        if as_json:
            before, now = (report.as_dict() for report in reports)
            emit_json({"differences": [each.as_dict() for each in found], "before": before, "now": now})
        else:
            from ..terminal.definition_differences import show_differences

            show_differences(found)
        ended = [report.exit_code for report in reports if report.exit_code not in (0, EXIT_WORSE)]
        for report in reports:
            for model in report.models:
                if model.error:
                    print_note(f"{model.model_id}: {model.error}")
        if ended:
            return ended[0]
        return EXIT_WORSE if any(each.all.change == "worse" for each in found) else 0

    async def _reports(self, suite: Suite, run: Run) -> tuple[ValidationReport, ValidationReport]:
        """The reports with the tools of the config, and of the other. That of the config is made last: where
        both are kept in one store, it is the one that holds."""
        from ...validation.definitions_ab import Renames

        async with opened(self.choice) as mine:
            names = [tool.name for tool in mine.tools()]
            suite_of_other = Renames.parsed(self.renames, names).applied_to(suite)
            _check(suite, mine, "the config")
            print_note(f"first with the tools of {self.other}, then with those of the config")
            async with opened(replace(self.choice, paths=(self.other,))) as others:
                _check(suite_of_other, others, self.other)
                now = await run(others, suite_of_other)
            return await run(mine, suite), now


def check_against(against: str | None, renames: tuple[str, ...], otherwise: object) -> None:
    """Raise ``UsageError`` where the options of ``--against`` go with none, or with what is run
    ``otherwise``."""
    if renames and against is None:
        raise UsageError("--rename says what tools are called in the config of --against: give that too")
    if against is not None and otherwise:
        raise UsageError(
            "--against goes with a suite of the config's tools: leave out --answers, --wordings, bfcl:"
        )


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


def _found(before: ValidationReport, now: ValidationReport) -> list[ModelDifference]:
    from ...validation.definitions_ab import differences

    def trials(report: ValidationReport) -> list[Trial]:
        return [trial for model in report.models for trial in model.trials]

    return differences(trials(before), trials(now))
