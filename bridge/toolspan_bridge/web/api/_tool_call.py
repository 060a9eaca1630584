"""A call of one tool, without a model."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, Field

from toolspan_server.engines.upstreams import ListedTool

from ...approvals import Approval, ApprovalRequest, PolicyApprover, find_reason, question_of
from ...errors import UsageError
from ...loop import called
from ...sessions.approving import approver_of, files_of_calls, policy_of
from ...sessions.chosen.approvals import ApprovalChoice
from ..activity import About, Activity
from ..endpoint import Answer, Call, Values
from ..problems import Problem

if TYPE_CHECKING:
    from ...messages import ToolSpec
    from ...sessions.session import Session


DEFAULT_CONVERSATION = "default"
"""Where a request names no conversation: each principal has one of its own."""


class WantedCall(Values):
    """Which tool is to be called, and with what."""

    name: str = Field(min_length=1, max_length=1_000)
    server: str | None = Field(
        None, max_length=1_000, description="Its server, where several have one so named."
    )
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    conversation: str = Field(
        DEFAULT_CONVERSATION,
        min_length=1,
        max_length=200,
        description="The conversation of yours whose state the tool reads and writes (storage, to-dos, "
        "changes of files): the id of one of /api/conversations, or a name that you choose.",
    )
    approved: bool = Field(False, description="Whether a person has allowed this very call.")
    shown: str | None = Field(
        None,
        max_length=100,
        description="The shown of the refusal whose preview the person saw: the call is refused where it "
        "would do something else by then.",
    )


class ToolResult(Answer):
    """What came of a call. A tool that fails is an answer, and no problem."""

    model_config = ConfigDict(extra="allow")

    success: bool
    tool_name: str
    execution_time_ms: float = 0


async def call_tool(call: Call) -> dict[str, Any]:
    """The result of a call. A call that needs a person's approval is 409 until it is sent with it: the
    refusal has the preview that the person is to be shown."""
    wanted = call.values(WantedCall)
    async with call.app.using(call.principal) as served:
        session = served.session
        tool = _wanted_tool(session, wanted)
        await _refuse_unapproved(session, tool, wanted)
        allowed = (f"{tool.server}/{tool.name}",) if wanted.approved else ()
        choice = ApprovalChoice(allowed=allowed)
        approver = _AsShown(approver_of(session, choice, secrets.token_hex(16), call.principal), wanted.shown)
        record = call.app.of(Activity).calls(About(call.principal, call.request.url.path))
        outcome = await called(
            session.toolbox,
            tool,
            wanted.arguments,
            approver,
            record,
            served.asker.hooks,
            wanted.conversation,
        )
        return dict(outcome.result)


def tool_of(session: Session, server: str | None, name: str) -> ToolSpec:
    """The tool of that name. Raises ``Problem`` 404."""
    try:
        return session.tool(f"{server}/{name}" if server else name)
    except UsageError as error:
        raise Problem(404, error.message, "tool_not_found") from None


def _wanted_tool(session: Session, wanted: WantedCall) -> ToolSpec:
    """The tool to call. Raises ``Problem`` 404, in which the seed's result stands too."""
    try:
        return tool_of(session, wanted.server, wanted.name)
    except Problem as problem:
        problem.more |= {
            "success": False,
            "error": f"Tool '{wanted.name}' not found",
            "tool_name": wanted.name,
            "execution_time_ms": 0,
        }
        raise


class _AsShown:
    """``approver``, whose yes is for the call as it was ``shown``."""

    def __init__(self, approver: PolicyApprover, shown: str | None) -> None:
        self._approver = approver
        self._shown = shown

    def reason_to_ask(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
        """As ``approver`` says."""
        return self._approver.reason_to_ask(server, tool, arguments)

    async def decide(self, request: ApprovalRequest) -> Approval:
        """The answer of ``approver``."""
        return replace(await self._approver.decide(request), shown=self._shown)


async def _refuse_unapproved(session: Session, tool: ToolSpec, wanted: WantedCall) -> None:
    if wanted.approved:
        return
    rules = () if session.config.approvals is None else session.config.approvals.rules
    policy = PolicyApprover(
        policy_of(session, ApprovalChoice()),
        rules=rules,
        files_of=files_of_calls(session),
        departure_of=session.baseline.departure,
    )
    listed = session.toolbox.definition(tool)
    reason = await find_reason(policy, tool.server, listed, wanted.arguments)
    if reason:
        asked = ApprovalRequest(
            "",
            tool.server,
            listed,
            wanted.arguments,
            reason,
            previewer=partial(session.toolbox.preview, tool),
        )
        asked = await asked.previewed()
        shows = {"preview": question_of(asked, None).as_dict(), "shown": asked.shown}
        remedy = "send the call with approved: true once a person allowed it"
        detail = f"{tool.name} needs approval ({reason}): {remedy}"
        raise Problem(409, detail, "approval_needed", more={"reason": reason} | shows)
