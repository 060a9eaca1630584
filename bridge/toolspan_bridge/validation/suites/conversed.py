"""What a model made of a scenario: an answer to each of its turns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...events import Answer, ToolUse
from ...messages import Usage
from ...providers.prices import total_usd

__all__ = ["Conversed"]


@dataclass(frozen=True, slots=True)
class Conversed:
    """The answers of a model to the turns of a scenario, in their order: at least one. There are fewer than
    turns where one was not as expected: the conversation ends there."""

    answers: tuple[Answer, ...]

    @property
    def last(self) -> Answer:
        """The answer to the last turn that was asked."""
        return self.answers[-1]

    @property
    def tool_calls(self) -> tuple[ToolUse, ...]:
        """The calls of all turns."""
        return tuple(call for answer in self.answers for call in answer.tool_calls)

    @property
    def usd(self) -> float | None:
        """What all turns cost in US dollars, where every price is known."""
        return total_usd([answer.usd for answer in self.answers])

    def as_dict(self) -> dict[str, Any]:
        """Of one answer, that of ``Answer.as_dict``. Of several, the last one's with the calls, iterations
        and tokens of all, and ``"turns"``: each answer's own."""
        if len(self.answers) == 1:
            return self.last.as_dict()
        usage = sum((answer.usage for answer in self.answers), Usage())
        iterations = sum(answer.iterations for answer in self.answers)
        whole = replace(self.last, tool_calls=self.tool_calls, usage=usage, iterations=iterations)
        return {**whole.as_dict(), "turns": [answer.as_dict() for answer in self.answers]}
