"""What a scenario's own keys make of the usual setting: tools, mocks, and what a person answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from toolspan_server.engines.upstreams import ListedTool

from ...approvals import Approval, ApprovalRequest, Departure, PersonAnswer, PolicyApprover
from ...approvals.patterns import names_tool
from ...client import Elicitation, Elicited
from ...messages import Assistant, Message, User
from ...toolbox import Toolbox
from ...toolbox.local import LOCAL_SERVER
from .answered import Approve, Elicit
from .mocks import MockedTool, is_described

if TYPE_CHECKING:
    from .setting import Setting
    from .surroundings import Surroundings

_Said = TypeVar("_Said", Approve, Elicit)

__all__ = ["Nobody", "ScenarioApprover", "ScenarioElicitor", "staged"]


def staged(scenario: Surroundings, usual: Setting) -> Setting:
    """``usual`` with what ``scenario`` says of tools, mocks, earlier messages, and a person's answers."""
    if not (scenario.mocks or scenario.elicitations or scenario.messages or scenario.approvals) and (
        scenario.tools == "all"
    ):
        return usual
    toolbox = _with_tools(scenario, usual.toolbox)
    if scenario.elicitations:
        toolbox = toolbox.answering(ScenarioElicitor(scenario.elicitations))
    before: list[Message] = [
        User(each.content) if each.role == "user" else Assistant(each.content) for each in scenario.messages
    ]
    return replace(usual, toolbox=toolbox, approvals=scenario.approvals, before=(*usual.before, *before))


def _with_tools(scenario: Surroundings, toolbox: Toolbox) -> Toolbox:
    own = {name: MockedTool(name, data) for name, data in scenario.mocks.items() if is_described(data)}
    chosen = scenario.tools

    def accepts(server: str, tool: ListedTool) -> bool:
        return names_tool(chosen, server, tool.name) or (server == LOCAL_SERVER and tool.name in own)

    if chosen != "all":
        toolbox = toolbox.accepting(accepts)
    stand_ins = {
        spec.key: MockedTool(spec.name, data, toolbox.definition(spec))
        for name, data in scenario.mocks.items()
        for spec in toolbox.tools
        if not is_described(data) and name in (spec.name, f"{spec.server}/{spec.name}")
    }
    if stand_ins:
        toolbox = toolbox.standing_in(stand_ins)
    return toolbox.with_local(own.values()) if own else toolbox


class ScenarioApprover:
    """Decides as the person of a scenario would: ``answers`` by globs, of which the first counts. What
    ``base`` refuses for another reason than that nobody is there stays refused."""

    def __init__(self, base: PolicyApprover, answers: Mapping[str, Approve]) -> None:
        self._alone = base
        self._base = base.with_person(self)
        self._answers = answers

    def reason_to_ask(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
        """Why the call needs a decision; that of a tool with an answer always does."""
        reason = self._alone.reason_to_ask(server, tool, arguments)
        said = _first(self._answers, server, tool.name)
        return reason or ("the scenario says so" if said else "")

    async def decide(self, request: ApprovalRequest) -> Approval:
        """The person's answer."""
        said = _first(self._answers, request.server, request.tool.name)
        if said is None:
            return await self._alone.decide(request)
        if said.answer == "deny":
            return Approval(allowed=False, decider="person", reason=said.reason or "")
        decided = await self._base.decide(request)
        return replace(decided, arguments=said.arguments) if decided.allowed else decided

    async def ask(self, request: ApprovalRequest, departure: Departure | None) -> PersonAnswer:
        """A yes, but for a tool whose definition is another than it was: that is for a real person."""
        del request
        if departure is not None:
            reason = departure.reason or f"its definition is another than it was when {departure.since}"
            return PersonAnswer(Approval(allowed=False, decider="person", reason=reason))
        return PersonAnswer(Approval(allowed=True, decider="person"))


class ScenarioElicitor:
    """Answers questions of tools as the person of a scenario would: ``answers`` by globs, of which the first
    counts. Fields that are not given have the defaults of the form."""

    def __init__(self, answers: Mapping[str, Elicit]) -> None:
        self._answers = answers

    async def elicit(self, question: Elicitation) -> Elicited:
        """The answer; none (``cancel``) to a question of a tool without one."""
        said = _first(self._answers, question.server, question.tool)
        if said is None:
            return Elicited("cancel")
        if said.action != "accept":
            return Elicited(said.action)
        if question.url:
            return Elicited("accept", done=True)
        properties: Mapping[str, Any] = question.schema.get("properties") or {}
        defaults = {name: each["default"] for name, each in properties.items() if "default" in each}
        return Elicited("accept", {**defaults, **(said.content or {})})


class Nobody(ScenarioElicitor):
    """Answers no question: a run of validation asks nobody."""

    def __init__(self) -> None:
        super().__init__({})


def _first(answers: Mapping[str, _Said], server: str, tool: str) -> _Said | None:
    return next((said for glob, said in answers.items() if names_tool((glob,), server, tool)), None)
