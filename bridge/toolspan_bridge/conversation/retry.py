"""The last question of a conversation, taken out with what came of it, to be asked again."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ..errors import UsageError
from ..messages import Message, User
from .conversation import Conversation
from .questions import question_places

__all__ = ["last_question", "without_last_question"]


def last_question(conversation: Conversation) -> tuple[int, User]:
    """Where the last question begins, and the question itself. Raises ``UsageError`` when there is none that
    could be asked again."""
    places = question_places(conversation.messages)
    if not places:
        raise UsageError("nothing was asked yet: there is nothing to ask again")
    start = places[-1]
    summary = conversation.summary
    if summary is not None and summary.messages > start:
        raise UsageError("the last answer is part of the summary of /compact: ask the question anew")
    asked = User("")
    for message in conversation.messages[start:]:
        if not isinstance(message, User):
            break
        asked = message  # instructions may come before it
    return start, asked


@contextmanager
def without_last_question(conversation: Conversation) -> Generator[list[Message]]:
    """The last question and what came of it, which are not in the conversation in the block. If nothing was
    added there, they are put back. A journal keeps them either way."""
    start, _ = last_question(conversation)
    dropped, told, left_out = conversation.messages[start:], conversation.instructions, conversation.left_out
    del conversation.messages[start:]
    if told is not None and not _is_told(told, conversation.messages):
        conversation.instructions = None
    conversation.left_out = {
        model: kept
        for model, places in left_out.items()
        if (kept := frozenset(place for place in places if place < start))
    }
    try:
        yield dropped
    finally:
        if len(conversation.messages) == start:
            conversation.messages += dropped
            conversation.instructions, conversation.left_out = told, left_out
            conversation.record()


def _is_told(instructions: str, messages: list[Message]) -> bool:
    return any(instructions in each.text for each in messages if isinstance(each, User))
