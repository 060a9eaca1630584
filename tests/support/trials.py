"""Trials and answers made up for the tests of the validation room."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from toolspan_bridge.events import Answer, ToolUse
from toolspan_bridge.messages import Usage
from toolspan_bridge.validation import AskModel, Conversed, Scenario, Trial


def a_trial(
    scenario: str = "weather",
    *,
    model_id: str = "offline/keyword",
    success: bool = True,
    error: str = "",
    timestamp: str = "2026-11-21T10:00:00.123Z",
    details: Mapping[str, Any] | None = None,
) -> Trial:
    """A trial; one without success says why."""
    why = error or ("" if success else "get_weather was not called (no tool was)")
    return Trial(model_id, "default", scenario, timestamp, success, why, details or {"query": scenario})


def made(
    tool: str, arguments: Mapping[str, Any] | None = None, result: Mapping[str, Any] | None = None
) -> ToolUse:
    """A tool call that a model made; it succeeded unless ``result`` says otherwise."""
    return ToolUse(tool, arguments, result or {"success": True, "result": None}, 1)


def given(content: str = "", calls: Sequence[ToolUse] = ()) -> Answer:
    """A model's answer."""
    return Answer(content, "keyword", "offline", tuple(calls), Usage(10, 5), 1)


def answering(ask: Callable[[str, str], Awaitable[Answer]]) -> AskModel:
    """Puts scenarios of one turn to ``ask``, which takes the model and the query."""

    async def asked(model: str, scenario: Scenario) -> Conversed:
        (turn,) = scenario.asked
        return Conversed((await ask(model, turn.query),))

    return asked


def failed_result(error: str) -> dict[str, Any]:
    """The tool result object of a failure."""
    return {"success": False, "error": error, "error_code": "execution_error", "user_action": ""}
