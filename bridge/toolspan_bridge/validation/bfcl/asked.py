"""The leaderboard's cases as scenarios that models are asked."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from typing_extensions import override

from ...events import Answer
from ...messages import Assistant, Message, ToolSpec, User
from ...toolbox import Toolbox
from ..suites import Expect, ExpectedCall, Scenario, Setting, Suite
from .cases import BfclCase, Calls
from .definitions import as_tool
from .files import BfclSuite
from .function_call import MadeCall
from .multi_turn.asked import conversation_scenario
from .multi_turn.conversations import ConversationCase


class BfclScenario(Scenario):
    """One case: its functions are the tools, and the calls of the first turn are its answer, as in BFCL."""

    case: BfclCase = Field(exclude=True)

    @property
    @override
    def own_tools(self) -> tuple[ToolSpec, ...]:
        return self._toolbox.tools

    @override
    def set_in(self, usual: Setting) -> Setting:
        case, system, before = self.case, "", list[Message]()
        for message in case.messages[: _last_user(case)]:
            text, role = str(message.get("content", "")), message.get("role")
            if role == "system":
                system = f"{system}\n\n{text}".strip()
            else:
                before.append(Assistant(text) if role == "assistant" else User(text))
        return Setting(self._toolbox, 1, tuple(before), system or usual.system, closing=False)

    @property
    def _toolbox(self) -> Toolbox:
        tools = [as_tool(function, self.case.language) for function in self.case.functions]
        return Toolbox([], {tool.name: tool for tool in reversed(tools)}.values())

    @property
    @override
    def identity(self) -> Any:
        return [self.case.functions, self.case.accepted, list(self.case.messages)]

    @override
    def turn_faults(self, number: int, answer: Answer) -> tuple[str, ...]:
        fault = self.case.fault_of(_first_calls(answer))
        return (fault,) if fault else ()


def suite_of(found: BfclSuite) -> Suite:
    """The cases of ``found`` as a suite; each is counted with its category."""
    return Suite(name=found.name, scenarios=tuple(_scenario(case) for case in found.cases.values()))


def _scenario(case: BfclCase | ConversationCase) -> Scenario:
    if isinstance(case, ConversationCase):
        return conversation_scenario(case)
    query = str(case.messages[_last_user(case)].get("content", "")) or "(no words)"
    calls = tuple(ExpectedCall(tool=next(iter(each))) for each in case.accepted)
    if "irrelevance" in case.category:
        expect = Expect(no_calls=True)
    else:
        expect = Expect(calls=calls) if calls else Expect(max_iterations=1)
    return BfclScenario(name=case.id, query=query, expect=expect, tags=(case.category,), case=case)


def _last_user(case: BfclCase) -> int:
    roles = [message.get("role") for message in case.messages]
    return len(roles) - 1 - roles[::-1].index("user") if "user" in roles else len(roles) - 1


def _first_calls(answer: Answer) -> Calls:
    made: list[MadeCall] = []
    for use in answer.tool_calls:
        if use.iteration == 1:
            if use.arguments is None:
                return None
            made.append(MadeCall(use.tool, use.arguments))
    return made
