"""``validate --against`` and ``--suggest``: a suite over two versions of the tools' definitions."""

from __future__ import annotations

from dataclasses import replace

from ...messages import ReasoningEffort
from ...sessions.chosen.config import ConfigChoice
from ...sessions.session import Session
from ...validation import Suite, ValidationReport
from ..inputs.validation.definition_options import DefinitionsChoice
from ..inputs.validation.run_options import RunChoice
from ..inputs.validation.suites import NamedSuite, suites_to_run
from .run import validated

__all__ = ["compared"]


def compared(
    definitions: DefinitionsChoice,
    choice: ConfigChoice,
    models: tuple[str, ...],
    run: RunChoice,
    reasoning: ReasoningEffort | None,
    *,
    as_json: bool,
) -> int:
    """Run the suite of ``run`` over the two versions that ``definitions`` says, print what differs, and give
    the exit code."""
    [named] = suites_to_run(run.suites)

    async def run_suite(session: Session, suite: Suite) -> ValidationReport:
        alone = replace(run, suites=())
        report, _ = await validated(session, models, [NamedSuite(suite)], alone, reasoning)
        assert report is not None, "no queue is taken"
        return report

    if definitions.against is not None:
        from .against import compared_with

        return compared_with(
            definitions.against, definitions.renames, choice, named.suite, run_suite, as_json=as_json
        )
    from .suggest import Suggest
    from .suggested_files import SuggestedFile

    output = SuggestedFile(definitions.output, choice) if definitions.output is not None else None
    return Suggest(choice, definitions.suggest_by, output).shown(named.suite, run_suite, as_json=as_json)
