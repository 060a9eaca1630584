"""People and models that servers ask, scripted in a test; what is reported of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from toolspan_bridge import Elicitation, Elicited, Reply, Sampled, Sampling, Toolbox, ToolOutcome, Usage
from toolspan_bridge.messages import Assistant
from toolspan_bridge.toolbox.reports import CallReport


@dataclass
class Person:
    """Gives ``answers``, the last one again and again; ``asked`` notes the questions."""

    answers: Sequence[Elicited]
    asked: list[Elicitation] = field(default_factory=list[Elicitation])

    async def elicit(self, question: Elicitation) -> Elicited:
        self.asked.append(question)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


@dataclass
class Waiting:
    """A person who never answers; ``asked`` is set at a question, ``left`` once it is withdrawn."""

    asked: anyio.Event = field(default_factory=anyio.Event)
    left: anyio.Event = field(default_factory=anyio.Event)

    async def elicit(self, question: Elicitation) -> Elicited:
        self.asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.left.set()
        raise AssertionError("nobody answers")


@dataclass
class Model:
    """Answers every question with ``text``; ``asked`` notes them. Each costs ``tokens``."""

    text: str = "a poem"
    tokens: int = 10
    asked: list[Sampling] = field(default_factory=list[Sampling])

    async def sample(self, sampling: Sampling) -> Sampled:
        self.asked.append(sampling)
        return Sampled(Reply(Assistant(self.text), usage=Usage(0, self.tokens)), "some-model", "scripted")


@dataclass
class Heard:
    """The outcome of a call, and what was reported of it."""

    outcome: ToolOutcome
    reports: list[CallReport]

    def of(self, kind: type) -> list[Any]:
        """The reports of one kind."""
        return [report for report in self.reports if isinstance(report, kind)]

    @property
    def value(self) -> Any:
        """The result, or the error."""
        result = self.outcome.result
        return result["result"] if result["success"] else result["error"]


async def heard(toolbox: Toolbox, name: str, arguments: Mapping[str, Any] | None = None) -> Heard:
    """Call the one tool ``name``."""
    (spec,) = (tool for tool in toolbox.tools if tool.name == name)
    reports: list[CallReport] = []
    outcome = await toolbox.call(spec, arguments or {}, "1", report=reports.append)
    return Heard(outcome, reports)
