"""The questions of a conversation, and what came of each."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UsageError
from ..messages import Message, User

__all__ = ["first_questions", "question_places"]


def question_places(messages: Sequence[Message]) -> list[int]:
    """Where each question begins: the places of users' messages that follow none of a user."""
    return [
        place
        for place, message in enumerate(messages)
        if isinstance(message, User) and not (place and isinstance(messages[place - 1], User))
    ]


def first_questions(messages: Sequence[Message], count: int) -> list[Message]:
    """The messages of the first ``count`` questions, with what came of them. Raises ``UsageError``."""
    places = question_places(messages)
    if not 0 < count <= len(places):
        raise UsageError(f"there is no question {count}: the conversation has {len(places)}")
    return list(messages[: [*places, len(messages)][count]])
