"""``/api/tools``: the tools of all servers."""

from __future__ import annotations

from ..endpoint import Answer, Call, Endpoint
from ..pages import Page, page_of
from ._payloads import Payloads, payloads
from ._recorded import ModelRecord, Outcome, recorded
from ._tool_call import ToolResult, WantedCall, call_tool
from ._tool_facts import ToolInfo, tool_info
from ._tool_test import TestAnswer, WantedTest, tested


class ToolList(Answer):
    """The tools, sorted by server and name."""

    tools: list[ToolInfo]
    next_cursor: str | None


async def listed(call: Call) -> ToolList:
    """The tools of every connected server, as they are now."""
    session = call.app.live.current.session
    found, cursor = page_of(session.toolbox.tools, call.asked(Page), key=lambda tool: tool.key)
    return ToolList(
        tools=[tool_info(session.config, session.toolbox, tool) for tool in found], next_cursor=cursor
    )


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/tools/list",
        "List the tools of all servers.",
        listed,
        "tools",
        audience="shared",
        query=Page,
        answer=ToolList,
        problems=(400,),
    ),
    Endpoint(
        "GET",
        "/api/tools/{server}/{name}/payloads",
        "The exact payload of a tool in every format, with what is lost.",
        payloads,
        "tools",
        audience="shared",
        answer=Payloads,
        problems=(404, 409),
    ),
    Endpoint(
        "POST",
        "/api/tools/call",
        "Call a tool.",
        call_tool,
        "tools",
        audience="own",
        description="A tool that fails is an answer with success: false. A call that needs a person's "
        "approval is 409, approval_needed, until it is sent with approved: true.",
        body=WantedCall,
        answer=ToolResult,
        problems=(404, 409, 503),
        starts=True,
    ),
    Endpoint(
        "POST",
        "/api/tools/test",
        "Ask a model that has all tools.",
        tested,
        "tools",
        audience="own",
        body=WantedTest,
        answer=TestAnswer,
        problems=(404, 409, 502, 503),
        starts=True,
    ),
    Endpoint(
        "POST",
        "/api/tools/validate",
        "Record the outcome of a test of a model.",
        recorded,
        "tools",
        audience="shared",
        body=Outcome,
        answer=ModelRecord,
        problems=(503,),
        starts=True,
    ),
)
