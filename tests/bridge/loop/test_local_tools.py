"""Tools that the bridge performs itself, beside those of servers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.waiting import BOUND_S
from toolspan_bridge import Conversation, Event, Question, Toolbox, ToolLog, ToolProgress, own_server, run
from toolspan_bridge.messages import ToolResults
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.toolbox.local import LOCAL_SERVER, LocalCall, LocalFailure
from toolspan_bridge.toolbox.reports import CallLog, CallProgress
from toolspan_server import load_config
from toolspan_server.engines.upstreams import ListedTool

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.5.2")]

_CONFIG = """
version: 1
name: own
tools:
  registry:
    - name: count
      description: Counts on the server.
      parameters: {type: object, properties: {n: {type: integer}}}
      implementation: {type: mock, response: by the server}
"""


class Count:
    """Counts to ``n``, and reports each step."""

    definition = ListedTool(
        "count",
        "Counts to n.",
        {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        {"annotations": {"readOnlyHint": True}},
    )

    async def call(self, call: LocalCall) -> Any:
        n: int = call.arguments["n"]
        if n < 0:
            raise LocalFailure("n is negative", "invalid_parameters", "Send a number from 0 on.")
        for step in range(n):
            call.report(CallProgress(step + 1, n, f"step {step + 1}"))
        call.report(CallLog("info", "counted"))
        return {"n": n, "conversation": call.conversation}


async def asked(toolbox: Toolbox, talk: Conversation, *numbers: int) -> list[Event]:
    turns: list[Any] = [{"calls": [{"tool": "count", "arguments": {"n": n}}]} for n in numbers]
    return [
        event async for event in run(Question("?", "m"), Scripted([*turns, {"text": "done"}]), toolbox, talk)
    ]


async def test_a_local_tool_is_called_as_any_other_and_what_it_reports_are_events() -> None:
    talk = Conversation()
    events = await asked(Toolbox(()).with_local([Count()]), talk, 2, -1)
    steps = [(event.progress, event.message) for event in events if isinstance(event, ToolProgress)]
    assert steps == [(1, "step 1"), (2, "step 2")]
    assert [(event.level, event.text) for event in events if isinstance(event, ToolLog)] == [
        ("info", "counted")
    ]
    outcomes = [each.outcomes[0] for each in talk.messages if isinstance(each, ToolResults)]
    assert outcomes[0].result["result"] == {"n": 2, "conversation": talk.id}
    assert (outcomes[1].result["error"], outcomes[1].result["error_code"]) == (
        "n is negative",
        "invalid_parameters",
    )


async def test_it_takes_the_place_of_our_own_servers_tool_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text(_CONFIG)
    server = own_server(load_config(tmp_path / "tools.yaml"))
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([server], connect_timeout=BOUND_S) as toolbox:
            assert [tool.key for tool in toolbox.tools] == [("own", "count")]
            both = toolbox.with_local([Count()])
            assert [tool.key for tool in both.tools] == [(LOCAL_SERVER, "count")]
            assert both.definition(both.tools[0]).annotations == {"readOnlyHint": True}
            events = await asked(both, Conversation(), 1)
    assert any(isinstance(event, ToolProgress) for event in events)
