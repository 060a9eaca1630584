"""A question with all tools, as the seed's page asks it: nothing of it is kept."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ...conversation import Conversation
from ...loop import run
from ...sessions.agent import agent_of
from ...sessions.chosen.approvals import ApprovalChoice
from ...sessions.chosen.question import QuestionOptions
from ...sessions.costs import cost_data
from ...sessions.kept.saved_conversation import SavedConversation
from ..activity import About, Activity, Recording
from ..endpoint import Answer, Call, Values
from ..problems import Problem

if TYPE_CHECKING:
    from ...events import Answer as ModelAnswer
    from ...events import ToolUse

MISSING = "Missing query or model"


class WantedTest(Values):
    """A question and who is to answer it: both have to be there."""

    query: str | None = Field(None, max_length=1_000_000)
    model: str | None = Field(
        None, max_length=1_000, description="PROVIDER/MODEL; PROVIDER:MODEL is accepted."
    )


class TestedCall(Answer):
    """A call that the model made."""

    tool: str
    service: str = Field(description="The server of the tool.")
    params: dict[str, Any] | None
    result: dict[str, Any]
    iteration: int
    execution_time_ms: float | None


class Cost(Answer):
    """What it cost in US dollars, where every price is known."""

    usd: float | None


class TestAnswer(Answer):
    """What came of the question."""

    success: bool
    answer: str
    content: str = Field(description="The same as answer, by the name that the seed's page reads.")
    model: str
    provider: str
    service: str
    tool_calls: list[TestedCall]
    iterations: int
    max_iterations_reached: bool
    usage: dict[str, Any]
    cost: Cost
    stop: str
    reason: str


async def tested(call: Call) -> TestAnswer:
    """The answer of a model that has all tools. Calls that need approval are denied, as nobody is asked."""
    wanted = call.values(WantedTest)
    if not (wanted.query or "").strip() or not (wanted.model or "").strip():
        raise Problem(400, MISSING, "missing_query_or_model", more={"error": MISSING})
    async with call.app.using(call.principal) as served:
        session, asker = served.session, served.asker
        saved = SavedConversation(Conversation(), None, session.host)
        options = QuestionOptions(model=wanted.model)
        about = About(call.principal, call.request.url.path, group=secrets.token_hex(8))
        recording = Recording(call.app.of(Activity), about)
        with recording.preparing(str(wanted.model)):
            question, provider = await asker.routed(
                str(wanted.query), options, conversation=saved.conversation
            )
        meter = asker.meter(question, provider)
        asked = options.applied_to(question)
        agent = agent_of(asked, provider, meter, session, ApprovalChoice(), saved, call.principal)
        events = run(
            agent.question,
            agent.provider,
            agent.toolbox,
            saved.conversation,
            approver=agent.approver,
            pricing=meter.pricing,
            spending=agent.spending,
        )
        found = await recording.answered(events, agent.question, provider, meter.pricing)
        return _described(found, {tool.name: tool.server for tool in agent.toolbox.tools})


def _described(found: ModelAnswer, servers: dict[str, str]) -> TestAnswer:
    return TestAnswer(
        success=not found.broken,
        answer=found.content,
        content=found.content,
        model=found.model,
        provider=found.provider,
        service=found.provider,
        tool_calls=list(_calls(found.tool_calls, servers)),
        iterations=found.iterations,
        max_iterations_reached=found.max_iterations_reached,
        usage=found.usage.as_dict(),
        cost=Cost(**cost_data(found.usd)),
        stop=found.stop,
        reason=found.reason,
    )


def _calls(uses: Iterable[ToolUse], servers: dict[str, str]) -> Iterable[TestedCall]:
    for use in uses:
        took = use.result.get("execution_time_ms")
        yield TestedCall(
            tool=use.tool,
            service=servers.get(use.tool, ""),
            params=None if use.arguments is None else dict(use.arguments),
            result=dict(use.result),
            iteration=use.iteration,
            execution_time_ms=took if isinstance(took, int | float) else None,
        )
