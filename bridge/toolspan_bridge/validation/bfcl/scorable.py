"""Recorded answers, scored as BFCL scores them."""

from __future__ import annotations

from collections.abc import Iterable

from typing_extensions import override

from ..answers.contract import RecordedAnswer, Scorable
from .cases import BfclCase, Calls
from .files import BfclSuite
from .function_call import MadeCall, written_name
from .multi_turn.conversations import ConversationCase
from .multi_turn.programs import needed_programs


class ScorableBfcl(Scorable):
    """The cases of ``suite``, for recorded answers.

    ``underscored`` says that the answers write tool names with ``_`` for ``.``, as models do whose providers
    take no dot in a name; BFCL decides that by the model.
    """

    def __init__(self, suite: BfclSuite, *, underscored: bool = False) -> None:
        self.name = suite.name
        self.ids = tuple(suite.cases)
        self._cases = suite.cases
        self._left_out = {each: left.why for left in suite.left_out for each in left.ids}
        self._underscored = underscored

    @override
    def fault_of(self, answer: RecordedAnswer) -> str:
        case = self._cases[answer.id]
        if isinstance(case, ConversationCase):
            return _conversation_fault(case, answer)
        if answer.turns:
            return "the case has 1 turn: its line needs 'calls' and 'answer', without 'turns'"
        return case.fault_of(_calls(answer), underscored=self._underscored)

    @override
    def group_of(self, name: str) -> str:
        return self._cases[name].category

    @override
    def unscored(self, name: str) -> str | None:
        return self._left_out.get(name)


def writes_underscores(suite: BfclSuite, answers: Iterable[RecordedAnswer]) -> bool:
    """Whether more calls in ``answers`` name a function with ``_`` for ``.`` than as ``suite`` has it."""
    balance = 0
    for answer in answers:
        case = suite.cases.get(answer.id)
        if not isinstance(case, BfclCase):
            continue
        dotted = {str(function["name"]) for function in case.functions if "." in str(function["name"])}
        escaped = {written_name(name, underscored=True) for name in dotted}
        for call in answer.calls:
            balance += (call.name in escaped) - (call.name in dotted)
    return balance > 0


def _calls(answer: RecordedAnswer) -> Calls:
    made: list[MadeCall] = []
    for call in answer.calls:
        if call.arguments is None:
            return None
        made.append(MadeCall(call.name, call.arguments))
    return made


def _conversation_fault(case: ConversationCase, answer: RecordedAnswer) -> str:
    """A call without an object of arguments is left out, as BFCL leaves out what it cannot read."""
    if not answer.turns:
        return f"the case has {len(case.accepted)} turns: its line needs 'turns'"
    turns = [
        [[MadeCall(call.name, call.arguments)] for call in turn.calls if call.arguments is not None]
        for turn in answer.turns
    ]
    return case.fault_of(needed_programs(), turns)
