"""What the last turn of a chat took, as long as the conversation is the one of then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...conversation import Conversation, Summary
    from ...messages import Usage

__all__ = ["LastTurn"]


@dataclass(frozen=True, slots=True)
class LastTurn:
    """The ``usage`` of the last turn of a conversation, as it was then."""

    usage: Usage
    conversation: str
    summary: Summary | None

    @classmethod
    def of(cls, usage: Usage, conversation: Conversation) -> LastTurn:
        """The last turn of ``conversation`` now."""
        return cls(usage, conversation.id, conversation.summary)

    def is_of(self, conversation: Conversation) -> bool:
        """Whether what it read and wrote is what the next turn begins with: the conversation is no other, and
        was not summarised since."""
        return self.conversation == conversation.id and self.summary == conversation.summary
