"""``Task``: a sub-agent, the same loop in a conversation of its own, with fewer tools and its own limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from toolspan_server.config import SubagentLimits
from toolspan_server.engines.upstreams import ListedTool

from ..approvals import Approver
from ..approvals.patterns import names_tool
from ..conversation import Conversation
from ..errors import BridgeError
from ..events import Answer, End, ToolCallStarted
from ..loop import Limits, Question, run
from ..provenance.outward import Conversed
from ..providers import Provider
from ..providers.prices import Pricing
from ..toolbox import Toolbox
from ..toolbox.local import LocalCall, LocalFailure, LocalTool
from ..toolbox.reports import SubagentReport
from .approving import SubagentApprover
from .performed import listed_as
from .provider_search import ProviderSearch

__all__ = ["Parent", "subagent_tools"]

_MAIN_AGENT = "main-agent"
"""The tag of tools of our own servers that a sub-agent is not given."""

_SYSTEM = (
    "You are a sub-agent: another agent gave you a task, and reads nothing of you but your last message. "
    "Work on your own until the task is done or cannot be done. Then answer with what was asked for, "
    "complete and exact: paths with line numbers, what you changed, what you could not find out."
)
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Parent:
    """What a sub-agent takes over from the agent that starts it. ``toolbox`` are the servers' tools, guarded
    as the parent's; ``keep`` saves the conversation of the call with that id and says where, or ``""``;
    ``search`` searches for the workspaces without an engine."""

    question: Question
    provider: Provider
    toolbox: Toolbox
    approver: Approver
    pricing: Pricing | None
    limits: SubagentLimits
    keep: Callable[[Conversation, str], str]
    search: ProviderSearch
    depth: int = 0


def subagent_tools(parent: Parent) -> Iterator[LocalTool]:
    """``Task`` for the agent ``parent``, where a server of ours has it and there may be a further agent."""
    if parent.depth < parent.limits.depth:
        for tool in listed_as(parent.toolbox, "Task"):
            yield _Task(_side_by_side(tool), parent)


@dataclass(frozen=True, slots=True)
class _Task:
    definition: ListedTool
    parent: Parent

    async def call(self, call: LocalCall) -> Any:
        """``{"answer", "calls", "iterations"}``, ``"stopped"`` (the limit that ended it) and
        ``"conversation"`` (where its messages are), where there are such. Raises ``LocalFailure``."""
        parent = self.parent
        agent: str = call.arguments["description"]
        below = replace(
            parent,
            question=self._question(call.arguments["prompt"]),
            approver=SubagentApprover(parent.approver, agent),
            depth=parent.depth + 1,
        )
        toolbox = self._toolbox(call.arguments.get("tools"), subagent_tools(below))
        conversation = Conversation()
        conversation.id = call.conversation  # its tools work in the same files, and /undo knows of them
        conversation.inherited = tuple(call.marks)
        conversation.is_agents = True
        kept = ""
        try:
            answer, calls = await _answered(below, toolbox, conversation, call, agent)
        except BridgeError as error:
            raise LocalFailure(
                f"The sub-agent could not go on: {error}", "subagent_failed", "Do the task yourself, or stop."
            ) from None
        finally:
            kept = parent.keep(conversation, call.id)
            conversed = Conversed(call.marks, parent.toolbox.has_own_words)
            await conversed.follow(conversation.messages)
            call.marks.extend(conversed.marks[len(call.marks) :])
        result = {"answer": answer.content, "calls": calls, "iterations": answer.iterations}
        return result | _stopped(answer, parent.limits) | ({"conversation": kept} if kept else {})

    def _question(self, prompt: str) -> Question:
        asked, limits = self.parent.question, self.parent.limits
        return Question(
            prompt,
            asked.model,
            _SYSTEM,
            allowed_tools=None,
            max_iterations=limits.iterations,
            max_tokens=asked.max_tokens,
            temperature=asked.temperature,
            vision=asked.vision,
            reasoning=asked.reasoning,
            tools_offered=asked.tools_offered,
            max_parallel=asked.max_parallel,
            limits=Limits(limits.calls, limits.tokens, limits.usd, limits.seconds),
            repair_attempts=asked.repair_attempts,
            context_tokens=asked.context_tokens,
            result_characters=asked.result_characters,
            hooks=asked.hooks,
        )

    def _toolbox(self, globs: list[str] | None, local: Iterable[LocalTool]) -> Toolbox:
        """The tools of the sub-agent. Raises ``LocalFailure`` when ``globs`` name none."""
        toolbox, allowed = self.parent.toolbox, self.parent.question.allowed_tools

        def is_offered(server: str, tool: ListedTool) -> bool:
            ours = toolbox.is_own(server) and _MAIN_AGENT in tool.tags
            return not ours and (allowed is None or tool.name in allowed)

        def is_wanted(server: str, tool: ListedTool) -> bool:
            if globs is None:
                return tool.annotations.get("readOnlyHint") is True
            return names_tool(globs, server, tool.name)

        offered = toolbox.accepting(is_offered)
        wanted = offered.accepting(is_wanted)
        wanted = wanted.with_local([*local, *self.parent.search.tools(wanted)])
        if globs is not None and not wanted.tools:
            names = [tool.name for tool in offered.tools[:_MOST_NAMED]]
            raise LocalFailure(
                f"Invalid parameters: tools: none is called {', '.join(globs)}",
                "invalid_parameters",
                f"Name some of: {', '.join(names)}.",
            )
        return wanted


async def _answered(
    agent: Parent, toolbox: Toolbox, conversation: Conversation, call: LocalCall, name: str
) -> tuple[Answer, int]:
    """The answer of the sub-agent, and how many calls it made."""
    calls = 0
    events = run(
        agent.question,
        agent.provider,
        toolbox,
        conversation,
        approver=agent.approver,
        pricing=agent.pricing,
    )
    async with aclosing(events):
        async for event in events:
            if isinstance(event, End):
                return event.answer, calls
            calls += isinstance(event, ToolCallStarted)
            call.report(SubagentReport(name, event))
    raise AssertionError("a run ends with End")


def _stopped(answer: Answer, limits: SubagentLimits) -> dict[str, str]:
    """``{"stopped"}`` with the limit that ended ``answer``, or what else is unusual about it."""
    name = "iterations" if answer.max_iterations_reached else answer.limit.rpartition(".")[2]
    value = getattr(limits, name, None) if name else None
    if value is not None:
        return {"stopped": f"limits.subagents.{name} ({value:,}) was reached"}
    return {"stopped": answer.reason} if answer.broken else {}


def _side_by_side(tool: ListedTool) -> ListedTool:
    """``tool``, several calls of which may run at the same time."""
    hints = {name: hint for name, hint in tool.annotations.items() if name != "idempotentHint"}
    return replace(tool, details={**tool.details, "annotations": hints})
