"""``validate --suggest``: other descriptions of the tools, tested on scenarios that were held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from ...errors import ProviderError
from ...sessions.chosen.config import ConfigChoice
from ...sessions.session import Session, opened
from ..host import TERMINAL
from ..terminal.output import emit_json, emit_text, print_note
from .sides import RunSuite, exit_code_of, trials_of
from .suggested_files import SuggestedFile

if TYPE_CHECKING:
    from ...validation import Suite, Trial, ValidationReport
    from ...validation.definitions_ab import ModelDifference, Rewording


@dataclass(frozen=True, slots=True)
class Suggest:
    """Rewordings by rules, or by the model ``by`` (``provider/model``) where one is named; they are written
    to the file ``output``, if there is one, and nowhere else."""

    choice: ConfigChoice
    by: str | None = None
    output: SuggestedFile | None = None

    def shown(self, suite: Suite, run: RunSuite, *, as_json: bool) -> int:
        """Make and test them, print what came of it, and give the exit code: 6 where a model is worse with
        them by more than chance, that of a run that did not come to its end."""
        return anyio.run(partial(self._shown, suite, run, as_json=as_json))

    async def _shown(self, suite: Suite, run: RunSuite, *, as_json: bool) -> int:
        from ...validation.definitions_ab import differences, halves, reworded

        if self.output is not None:
            self.output.check()
        looked_at, held_out = halves(suite)
        async with opened(self.choice, TERMINAL) as session:
            print_note(f"looking at {_counted(looked_at)}; {_counted(held_out)} held out")
            seen = await run(session, looked_at)
            rewordings = await self._rewordings(session, trials_of(seen))
            if not rewordings:
                return _nothing(seen, as_json=as_json)
            before = await run(session, held_out)
            other = session.toolbox.reworded(lambda tool: reworded(tool, rewordings))
            now = await run(replace(session, toolbox=other), held_out)
        found = differences(trials_of(before), trials_of(now))
        if self.output is not None:
            self.output.write(rewordings)
        _show(rewordings, found, as_json=as_json)
        return exit_code_of((seen, before, now), found)

    async def _rewordings(self, session: Session, trials: Sequence[Trial]) -> list[Rewording]:
        from ...validation.definitions_ab import by_model, by_rules

        tools = session.toolbox.for_models().tools
        if self.by is None:
            return by_rules(trials, tools)
        return await by_model(trials, tools, partial(_asked, session, self.by))


async def _asked(session: Session, model: str, text: str, schema: Mapping[str, Any]) -> Any:
    from ...loop import Question, answer
    from ...providers import ProviderPool
    from ...toolbox import Toolbox

    async with ProviderPool(session.config) as providers:
        provider, name = await providers.get(model)
        found = await answer(Question(text, name, answer_schema=schema), provider, Toolbox([]))
    if not found.fits:
        why = found.reason or "its answer does not fit the schema"
        raise ProviderError(f"{model} proposed nothing that can be read: {why}")
    return found.value


def _nothing(seen: ValidationReport, *, as_json: bool) -> int:
    if as_json:
        emit_json({"rewordings": [], "differences": []})
    failed = sum(not trial.success and not trial.is_error for trial in trials_of(seen))
    print_note(
        "nothing to suggest: nothing failed in the half that was looked at"
        if not failed
        else f"nothing to suggest: none of the {failed} failures tells of a description"
    )
    return exit_code_of([seen], [])


def _counted(suite: Suite) -> str:
    count = len(suite.scenarios)
    return f"{count} scenario{'' if count == 1 else 's'}"


def _show(rewordings: Sequence[Rewording], found: Sequence[ModelDifference], *, as_json: bool) -> None:
    if as_json:
        emit_json(
            {
                "rewordings": [each.as_dict() for each in rewordings],
                "differences": [each.as_dict() for each in found],
            }
        )
        return
    from .definition_differences import show_differences

    for each in rewordings:
        emit_text(f"{each.place}: {each.description}\n  because {each.reason}")
    emit_text("on the scenarios that were held out:")
    show_differences(found)
