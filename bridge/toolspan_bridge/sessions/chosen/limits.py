"""What a question, and a conversation, may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...loop import Limits, Question


@dataclass(frozen=True, slots=True)
class LimitChoice:
    """What the options say of each limit of the question and of the conversation, by its name in ``Limits``
    (``None``: no limit), and in how many turns (``iterations``) tools may be called. They win over the
    config."""

    question: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    conversation: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    iterations: int | None = None

    def applied_to(self, question: Question) -> Question:
        """``question`` with these limits."""
        return replace(
            question,
            limits=_with(question.limits, self.question),
            conversation_limits=_with(question.conversation_limits, self.conversation),
            max_iterations=self.iterations or question.max_iterations,
        )


def _with(limits: Limits, chosen: Mapping[str, float | None]) -> Limits:
    from ...loop.limits import WHOLE

    changes: dict[str, Any] = {
        name: int(value) if name in WHOLE and value is not None else value for name, value in chosen.items()
    }
    return replace(limits, **changes)
