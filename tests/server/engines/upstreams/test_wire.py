"""Real clients of both eras call tools of upstreams of both eras through a served config."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import ElicitRequestParams, ElicitResult, LoggingMessageNotificationParams

from tests.support.upstreams import config, talker
from tests.support.waiting import BOUND_S

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.requirement("I4.2.4")]

ERAS = ("old", "new")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_questions_progress_and_log_messages_pass_through(
    tmp_path: Path, mode: Literal["legacy", "auto"]
) -> None:
    sources = [{"upstream": era, "prefix": f"{era}_"} for era in ERAS]
    path = config(tmp_path, {era: talker(era) for era in ERAS}, *sources)
    asked: list[str] = []
    logged: list[Any] = []
    steps: list[tuple[float, float | None, str | None]] = []

    async def elicited(_context: object, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"city": "Paris"})

    async def log(params: LoggingMessageNotificationParams) -> None:
        logged.append(params.data)

    async def progress(done: float, total: float | None, message: str | None) -> None:
        steps.append((done, total, message))

    command = ["-m", "toolspan_server", "--config", str(path)]
    streams = stdio_client(StdioServerParameters(command=sys.executable, args=command))
    callbacks: dict[str, Any] = {"elicitation_callback": elicited, "logging_callback": log}
    with anyio.fail_after(BOUND_S):
        async with Client(streams, mode=mode, **callbacks) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"old_search", "new_search"} <= names
            for era in ERAS:
                twice = await client.call_tool(f"{era}_twice", {})
                answer = json.loads(twice.content[0].text)  # type: ignore[union-attr]
                assert answer == {"answer": {"action": "accept", "content": {"city": "Paris"}}, "calls": 1}
                await client.call_tool(f"{era}_report", {}, progress_callback=progress)
    assert asked == ["Which city?"] * 4
    assert steps == [(1, 2, "step 1"), (2, 2, "step 2")] * 2
    assert logged == (["working 0"] * 2 if mode == "legacy" else [])
