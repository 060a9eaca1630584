"""Recorded answers to the scenarios of a suite of our own."""

from __future__ import annotations

from typing_extensions import override

from ..events import Answer, ToolUse
from ..messages import Usage
from .answers import RecordedAnswer, Scorable
from .suites import Suite, judge


class ScorableSuite(Scorable):
    """The scenarios of ``suite``, by their titles. A recorded call has no result: it counts as one that
    succeeded."""

    def __init__(self, suite: Suite) -> None:
        self.name = suite.name
        self._scenarios = {scenario.title: scenario for scenario in suite.scenarios}
        self.ids = tuple(self._scenarios)

    @override
    def fault_of(self, answer: RecordedAnswer) -> str:
        return "; ".join(judge(self._scenarios[answer.id].expect, _as_answer(answer)).reasons)

    @override
    def group_of(self, name: str) -> str:
        tags = self._scenarios[name].tags
        return tags[0] if tags else ""


def _as_answer(recorded: RecordedAnswer) -> Answer:
    uses = tuple(ToolUse(call.name, call.arguments, {"success": True}, 1) for call in recorded.calls)
    return Answer(recorded.text, "", "", uses, Usage(), 1)
