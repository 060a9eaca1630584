"""The leaderboard's conversations as scenarios that models are asked: calls are performed by its programs."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
from pydantic import Field
from typing_extensions import override

from toolspan_server.engines.upstreams import ListedTool

from ....events import Answer, ToolUse
from ....messages import ToolSpec
from ....provenance.outward import REACH_META
from ....providers.wire.json_types import is_object
from ....toolbox import Toolbox
from ....toolbox.local import LocalCall, LocalFailure
from ...suites import Conversed, Expect, ExpectedCall, Scenario, Setting, Turn
from ..definitions import as_tool
from ..function_call import MadeCall
from .conversations import ConversationCase, TurnSteps
from .programs import Programs, ProgramsFault, needed_programs

__all__ = ["ConversationScenario", "conversation_scenario"]

_NOT_MADE = ("too_many_calls", "repeated_call", "cut_off")


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of the case, performed by the programs of one conversation, one call after another."""

    case: ConversationCase
    programs: Programs
    offered: ListedTool

    @property
    def definition(self) -> ListedTool:
        return self.offered

    async def call(self, call: LocalCall) -> Any:
        """What the programs give: the object that their text is, or the text."""
        made = MadeCall(self.offered.name, call.arguments)
        try:
            text = await anyio.to_thread.run_sync(
                self.case.perform, self.programs, made, abandon_on_cancel=True
            )
        except ProgramsFault as fault:
            action = "Do without this call: the programs of the leaderboard begin anew."
            raise LocalFailure(f"The leaderboard's programs failed: {fault}", "tool_error", action) from None
        return _value_of(text)


class ConversationScenario(Scenario):
    """One conversation: every turn is asked, and the verdict is that of the leaderboard's checker on all."""

    case: ConversationCase = Field(exclude=True)

    @property
    @override
    def own_tools(self) -> tuple[ToolSpec, ...]:
        return self._toolbox(Programs("")).tools

    @property
    @override
    def identity(self) -> Any:
        case = self.case
        return [case.functions, case.added, case.accepted, case.setup, case.queries, case.version]

    @asynccontextmanager
    @override
    async def opened(self, usual: Setting) -> AsyncGenerator[Setting]:
        programs = Programs(needed_programs().python)
        try:
            yield Setting(
                self._toolbox(programs),
                self.case.steps + 1,
                system=usual.system,
                closing=False,
                checks_arguments=False,
            )
        finally:
            programs.close()

    @override
    def in_turn(self, number: int, setting: Setting) -> Toolbox:
        withheld = self.case.withheld(number)
        if not withheld:
            return setting.toolbox
        return setting.toolbox.accepting(lambda server, tool: tool.name not in withheld)

    @override
    def turn_faults(self, number: int, answer: Answer) -> tuple[str, ...]:
        replies = len({use.iteration for use in answer.tool_calls})
        return (f"more than {self.case.steps} replies had calls",) if replies > self.case.steps else ()

    @override
    def faults_of(self, conversed: Conversed) -> tuple[str, ...]:
        if too_many := super().faults_of(conversed):
            return too_many
        fault = self.case.fault_of(needed_programs(), [_steps(answer) for answer in conversed.answers])
        return (fault,) if fault else ()

    @override
    async def verdict(self, conversed: Conversed) -> tuple[str, ...]:
        return await anyio.to_thread.run_sync(self.faults_of, conversed)

    def _toolbox(self, programs: Programs) -> Toolbox:
        return Toolbox([], [_Function(self.case, programs, each) for each in _offered(self.case)])


def conversation_scenario(case: ConversationCase) -> ConversationScenario:
    """``case`` as a scenario, counted with its category."""
    turns = tuple(
        Turn(query=query, expect=_expected(accepted, case.steps))
        for query, accepted in zip(case.queries, case.accepted, strict=True)
    )
    return ConversationScenario(name=case.id, turns=turns, tags=(case.category,), case=case)


def _expected(accepted: Sequence[str], steps: int) -> Expect:
    calls = tuple(ExpectedCall(tool=text.partition("(")[0].strip()) for text in accepted)
    return Expect(calls=calls) if calls else Expect(max_iterations=steps)


def _offered(case: ConversationCase) -> list[ListedTool]:
    """The functions of ``case`` as tools, whose calls are made in their order."""
    in_order: Mapping[str, Any] = {"_meta": {"dev.toolspan/sequential": True, REACH_META: "local"}}
    listed = [as_tool(function, "python").definition for function in case.functions]
    return [ListedTool(each.name, each.description, each.schema, in_order) for each in listed]


def _steps(answer: Answer) -> TurnSteps:
    """The calls of each reply. One of whose calls had no object of arguments is left out, as in BFCL, and so
    are calls that were refused before they came to the programs."""
    replies: dict[int, list[ToolUse]] = {}
    for use in answer.tool_calls:
        replies.setdefault(use.iteration, []).append(use)
    return [
        [MadeCall(use.tool, use.arguments or {}) for use in uses if not _was_refused(use)]
        for uses in replies.values()
        if all(use.arguments is not None for use in uses)
    ]


def _was_refused(use: ToolUse) -> bool:
    return use.result.get("error_code") in _NOT_MADE


def _value_of(text: str) -> Any:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if is_object(value) else text
