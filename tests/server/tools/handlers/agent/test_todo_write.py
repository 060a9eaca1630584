"""The list of tasks of a conversation is validated, kept and given back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.workspaces import workspace_tools

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.3.40")]

TODOS = [
    {"content": "Read the code", "status": "completed"},
    {"content": "Write the test", "status": "in_progress", "activeForm": "Writing the test"},
    {"content": "Write the docs", "status": "pending"},
]


async def test_the_list_is_replaced_counted_and_kept_for_its_conversation_also_after_a_restart(
    tmp_path: Path,
) -> None:
    async with workspace_tools(tmp_path) as tools:
        counts = {"pending": 1, "in_progress": 1, "completed": 1}
        assert await tools.good("TodoWrite", "c1", todos=TODOS) == {"todos": TODOS, **counts}
        assert (await tools.good("Todos", "c2"))["todos"] == []
    async with workspace_tools(tmp_path) as tools:
        assert await tools.good("Todos", "c1") == {"todos": TODOS, **counts}
        assert (await tools.good("TodoWrite", "c1", todos=[]))["pending"] == 0
        assert (await tools.good("Todos", "c1"))["todos"] == []


@pytest.mark.parametrize(
    ("todos", "fault"),
    [
        ([TODOS[1], {"content": "b", "status": "in_progress"}], "2 are in_progress, and at most one"),
        ([{"content": "a", "status": "done"}], "must be one of: pending, in_progress, completed"),
        ([{"content": "", "status": "pending"}], "todos[0].content"),
        ([{"status": "pending"}], "content"),
        ([{"content": "a", "status": "pending", "priority": 1}], "priority"),
        ([{"content": "a", "status": "pending"}] * 201, "200"),
    ],
)
async def test_a_wrong_list_is_refused_and_the_earlier_one_stays(
    tmp_path: Path, todos: list[dict[str, Any]], fault: str
) -> None:
    async with workspace_tools(tmp_path) as tools:
        await tools.good("TodoWrite", todos=TODOS)
        refused = await tools.refused("TodoWrite", todos=todos)
        assert refused.startswith("invalid_parameters: ")
        assert fault in refused
        assert (await tools.good("Todos"))["todos"] == TODOS
