"""What a model reasoned, kept beside its messages: providers give it as it streams, and not again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...events import End, Event, IterationStarted, Text, ToolCallStarted
from ...messages.deltas import ReasoningDelta

if TYPE_CHECKING:
    from ...conversation.conversation import Conversation

REASONING = "reasoning"
_MOST = 100_000


@dataclass(slots=True)
class Thoughts:
    """Collects the reasoning of a turn, at most 100,000 characters, and notes it once the turn is there."""

    _pieces: list[str] = field(default_factory=list[str])

    def take(self, event: Event, conversation: Conversation) -> None:
        """Take the next event of a run."""
        if isinstance(event, ReasoningDelta):
            self._pieces.append(event.text)
        elif self._pieces and isinstance(event, Text | ToolCallStarted | IterationStarted | End):
            conversation.note(REASONING, {"text": "".join(self._pieces)[:_MOST]})
            self._pieces.clear()
