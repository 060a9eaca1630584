"""Questions to the person are a form of the client: options, several of them, or an answer of one's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.asked_client import Waiting, declining, in_rounds
from tests.support.workspaces import WorkspaceTools, workspace_tools
from toolspan_server import Context
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.client import Question
from toolspan_server.protocol.clients import fault_in

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.3.41")]

DATABASE = {
    "question": "Which database?",
    "header": "Database",
    "options": [{"label": "SQLite", "description": "one file"}, "PostgreSQL"],
}
PARTS = {"question": "Which parts?", "options": ["API", "Docs", "Tests"], "multiSelect": True}
NAME = {"question": "What is it called?"}


@pytest.fixture
async def tools(tmp_path: Path) -> AsyncIterator[WorkspaceTools]:
    async with workspace_tools(tmp_path) as found:
        yield found


def filling(content: dict[str, Any]) -> Waiting:
    """A client whose person fills the form with ``content``, which has to fit it."""

    def answered(_key: str, question: Question) -> dict[str, Any]:
        answer = {"action": "accept", "content": content}
        assert fault_in(question, answer) is None
        return answer

    return Waiting(answered)


async def answers(tools: WorkspaceTools, client: Waiting, *questions: Any, **more: Any) -> list[Any]:
    arguments = {"questions": list(questions), **more}
    result = await tools.runtime.execute("AskUserQuestion", arguments, Context(LOCAL, client=client))
    assert result.success, result.error
    assert [each["question"] for each in result.result["answers"]] == [q["question"] for q in questions]
    return [each["answer"] for each in result.result["answers"]]


async def test_options_several_options_and_free_text_are_asked_in_one_form(tools: WorkspaceTools) -> None:
    client = filling({"q1": "SQLite", "q2": ["API", "Tests"], "q3": "Rose"})
    assert await answers(tools, client, DATABASE, PARTS, NAME) == ["SQLite", ["API", "Tests"], "Rose"]
    params = client.asked["questions"].params
    assert "1. Which database?\n   SQLite: one file\n2. Which parts?" in params["message"]
    fields = params["requestedSchema"]["properties"]
    assert fields["q1"]["enum"] == ["SQLite", "PostgreSQL"]
    assert fields["q1"]["title"] == "Database"
    assert fields["q2"]["items"]["enum"] == ["API", "Docs", "Tests"]
    assert list(fields) == ["q1", "q1_other", "q2", "q2_other", "q3"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"q1_other": " DuckDB "}, "DuckDB"),
        ({"q1": "SQLite", "q1_other": "DuckDB"}, "DuckDB"),
        ({"q1": "SQLite", "q1_other": "  "}, "SQLite"),
        ({}, None),
    ],
)
async def test_another_answer_goes_before_the_options_and_none_is_null(
    tools: WorkspaceTools, content: dict[str, Any], expected: str | None
) -> None:
    assert await answers(tools, filling(content), DATABASE) == [expected]


async def test_several_may_be_chosen_beside_an_answer_of_ones_own(tools: WorkspaceTools) -> None:
    assert await answers(tools, filling({"q1": ["API"], "q1_other": "CLI"}), PARTS) == [["API", "CLI"]]
    assert await answers(tools, filling({"q1": []}), PARTS) == [None]


async def test_options_beside_the_questions_are_those_of_each_without_its_own(tools: WorkspaceTools) -> None:
    client = filling({"q1": "SQLite", "q2": "no"})
    assert await answers(tools, client, DATABASE, NAME, options=["yes", "no"]) == ["SQLite", "no"]


async def test_a_client_that_comes_again_brings_the_answers(tools: WorkspaceTools) -> None:
    def answered(_key: str, _question: Question) -> dict[str, Any]:
        return {"action": "accept", "content": {"q1": "Rose"}}

    executor = tools.runtime.snapshot.executor
    result, rounds = await in_rounds(executor, "AskUserQuestion", {"questions": [NAME]}, answered)
    assert rounds == [["questions"]]
    assert result.result["answers"] == [{"question": "What is it called?", "answer": "Rose"}]


@pytest.mark.parametrize(
    ("client", "code"),
    [
        (Waiting(declining), "declined"),
        (Waiting(lambda *_: {"action": "cancel"}), "cancelled"),
        (None, "client_cannot_answer"),
    ],
)
async def test_no_answer_is_a_failure_that_says_so(
    tools: WorkspaceTools, client: Waiting | None, code: str
) -> None:
    context = Context(LOCAL, client=client) if client else LOCAL
    result = await tools.runtime.execute("AskUserQuestion", {"questions": [NAME]}, context)
    assert result.error_code == code
    assert result.user_action


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ({**DATABASE, "options": ["a", {"label": "a"}]}, "two of them have the same label"),
        ({**NAME, "multiSelect": True}, "multiSelect needs options"),
        ({**NAME, "options": ["only one"]}, "options"),
    ],
)
async def test_a_wrong_question_is_not_asked(
    tools: WorkspaceTools, question: dict[str, Any], fault: str
) -> None:
    refused = await tools.refused("AskUserQuestion", questions=[question])
    assert refused.startswith("invalid_parameters: ")
    assert fault in refused
