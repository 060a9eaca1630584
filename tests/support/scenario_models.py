"""Models made up for scenarios: one that does all that is expected of it, and one that calls nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.support.local_tools import Performed
from toolspan_bridge import Conversation, End, Question, Toolbox, run
from toolspan_bridge.messages import ToolSpec
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.validation import Scenario
from toolspan_bridge.validation.suites import Conversed, Setting

ASKS = "Which one do you mean?"


def toolbox_of(tools: Iterable[ToolSpec]) -> Toolbox:
    """A toolbox with the definitions of ``tools``; none of them is to be called."""

    async def refuse(call: Any) -> Any:
        raise AssertionError(f"{call} was really made")

    return Toolbox(()).with_local(_Listed(tool, refuse) for tool in tools)


class _Listed(Performed):
    def __init__(self, tool: ToolSpec, perform: Any) -> None:
        super().__init__(tool.name, perform, schema=dict(tool.schema))


def never_calls(scenario: Scenario) -> list[dict[str, Any]]:
    """The turns of a model that asks back whatever it is told."""
    del scenario
    return [{"text": ASKS}]


def perfect(scenario: Scenario) -> list[dict[str, Any]]:
    """The turns of a model that does what the scenario expects; it calls again what fails at first."""
    expect = scenario.asked[0].expect
    calls = [{"tool": call.tool, "arguments": _arguments(call.arguments)} for call in expect.calls]
    if expect.order == "parallel":
        return [{"calls": calls}, {"text": "Both are done."}]
    turns = [{"calls": [call]} for call in calls for _ in range(_attempts(scenario, call["tool"]))]
    return [*turns, {"text": "It is done." if calls else ASKS}]


def _attempts(scenario: Scenario, tool: str) -> int:
    replies: Any = scenario.mocks.get(tool, {}).get("sequence", [{}])
    return 1 + next((place for place, reply in enumerate(replies) if "error" not in reply), len(replies))


def _arguments(expected: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in expected.items()}


def _plain(expected: Any) -> Any:
    """The argument that ``expected`` asks for."""
    if isinstance(expected, Mapping):
        if len(expected) == 1 and next(iter(expected)) in ("contains", "text", "equals"):
            return next(iter(expected.values()))
        return _arguments(expected)
    return [_plain(each) for each in expected] if isinstance(expected, list) else expected


async def faults_of(scenario: Scenario, turns: list[dict[str, Any]], tools: Toolbox) -> tuple[str, ...]:
    """What is not as expected when a model that plays ``turns`` is asked ``scenario``."""
    setting = scenario.set_in(Setting(tools, 8))
    question = Question(scenario.asked[0].query, "made-up", max_iterations=8)
    asked = run(question, Scripted(turns), setting.toolbox, Conversation())
    ended = [event async for event in asked][-1]
    assert isinstance(ended, End)
    return scenario.faults_of(Conversed((ended.answer,)))
