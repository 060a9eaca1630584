"""Tools that a model was measured to fail with: offered like others, last, or not, as the config says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from ...conversation import Conversation
from ...errors import StoreError
from ...loop import Question
from ...messages import ToolSpec
from ...providers import Provider
from ..session import Session
from .said_once import SaidOnce

if TYPE_CHECKING:
    from toolspan_server.engines.upstreams import ListedTool

    from ...validation.standing import FailingTool


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """What becomes of the tools that a model fails with: the ``failing`` ones are offered last or left out,
    as ``rule`` says; the ``named`` ones are offered nevertheless."""

    rule: Literal["offer", "last", "leave_out"] = "offer"
    failing: Mapping[str, FailingTool] = field(default_factory=dict[str, "FailingTool"])
    named: tuple[FailingTool, ...] = ()

    def applied_to(self, session: Session) -> Session:
        """``session`` with these tools."""
        if not self.failing:
            return session
        toolbox = session.toolbox
        if self.rule == "last":
            return replace(session, toolbox=toolbox.with_last(frozenset(self.failing)))

        def accepts(server: str, tool: ListedTool) -> bool:
            del server
            return tool.name not in self.failing

        return replace(session, toolbox=toolbox.accepting(accepts))


@dataclass(slots=True)
class FailingTools:
    """Looks up the tools that the models of what ``session`` gives fail with."""

    session: Callable[[], Session]
    _notes: SaidOnce = field(default_factory=SaidOnce)

    async def of(self, question: Question, provider: Provider, conversation: Conversation) -> OfferedTools:
        """What becomes of them in ``conversation``; nothing is said.

        A tool that the question's route or preset names stays, as do one that the person turned on and one
        that the conversation began with; and all do where none would be left. Raises ``StoreError``.
        """
        from ...validation.standing import Standings

        session = self.session()
        rule = session.config.validation.failing_tools if session.config.validation else "offer"
        tools = session.toolbox.for_models().tools
        if rule == "offer" or not tools or question.allowed_tools == ():
            return OfferedTools()
        standings = Standings(session.config, session.toolbox.tools)
        found = (await standings.of(provider, question.model)).failing_tools(provider.format_name)
        there = {tool.name for tool in tools}
        stay = _kept(f"{provider.name}/{question.model}", tools, conversation)
        failing = [tool for tool in found if tool.name in there - stay]
        named = tuple(tool for tool in failing if tool.name in (question.allowed_tools or ()))
        others = {tool.name: tool for tool in failing if tool not in named}
        if rule == "leave_out" and there <= others.keys():
            return OfferedTools(rule, {}, tuple(failing))
        return OfferedTools(rule, others, named)

    async def heed(self, question: Question, provider: Provider, conversation: Conversation) -> Session:
        """The session with the tools that the model is to be offered; what is done is said, once."""
        model = f"{provider.name}/{question.model}"
        try:
            found = await self.of(question, provider, conversation)
        except StoreError as error:
            self._notes.say(
                f"which tools {model} fails with is not known, so all are offered: {error}",
                self.session().host,
            )
            return self.session()
        texts = ", ".join(tool.text for tool in found.failing.values())
        if texts and found.rule == "last":
            self._notes.say(f"offered last, because {model} fails with them: {texts}", self.session().host)
        elif texts:
            self._notes.say(
                f"left out, because {model} fails with them: {texts} (/tools on NAME offers one in a chat)",
                self.session().host,
            )
        if found.named:
            kept = ", ".join(tool.text for tool in found.named)
            self._notes.say(
                f"{model} fails with tools that are asked for by name, or the only ones: {kept}",
                self.session().host,
            )
        return found.applied_to(self.session())


def _kept(model: str, tools: Iterable[ToolSpec], conversation: Conversation) -> set[str]:
    """The names of the tools that ``conversation`` began with at ``model``, and of those turned on in it."""
    begun, settings = conversation.beginnings.get(model), conversation.settings
    turned_on = {tool.name for tool in tools if settings.rule_of(tool.server, tool.name) == "on"}
    return turned_on | ({tool.name for tool in begun.tools} if begun else set[str]())
