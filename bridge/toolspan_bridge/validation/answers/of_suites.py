"""Recorded answers to the scenarios of a suite of our own."""

from __future__ import annotations

from typing_extensions import override

from ...events import Answer, ToolUse
from ...messages import Usage
from ..suites import Conversed, Suite
from . import RecordedAnswer, RecordedTurn, Scorable


class ScorableSuite(Scorable):
    """The scenarios of ``suite``, by their titles. A recorded call has no result: it counts as one that
    succeeded."""

    def __init__(self, suite: Suite) -> None:
        self.name = suite.name
        self._scenarios = {scenario.title: scenario for scenario in suite.scenarios}
        self.ids = tuple(self._scenarios)

    @override
    def fault_of(self, answer: RecordedAnswer) -> str:
        scenario = self._scenarios[answer.id]
        asked = len(scenario.asked)
        if bool(scenario.turns) != bool(answer.turns):
            wanted = "'turns'" if scenario.turns else "'calls' and 'answer', without 'turns'"
            return f"the scenario has {asked} turn{'s' if asked > 1 else ''}: its line needs {wanted}"
        turns = answer.turns or (RecordedTurn(answer.calls, answer.text),)
        if len(turns) > asked:
            return f"{len(turns)} turns are recorded, but the scenario has {asked}"
        faults = list(scenario.faults_of(Conversed(tuple(_as_answer(turn) for turn in turns))))
        if len(turns) < asked and not faults:
            faults.append(f"turn {len(turns) + 1} of {asked}: no answer is recorded for it")
        return "; ".join(faults)

    @override
    def group_of(self, name: str) -> str:
        tags = self._scenarios[name].tags
        return tags[0] if tags else ""


def _as_answer(recorded: RecordedTurn) -> Answer:
    uses = tuple(ToolUse(call.name, call.arguments, {"success": True}, 1) for call in recorded.calls)
    return Answer(recorded.text, "", "", uses, Usage(), 1)
