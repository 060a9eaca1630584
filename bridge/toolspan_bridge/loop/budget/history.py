"""What of a conversation a model is sent: a summary in place of its beginning, less what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...conversation import Conversation
from ...messages import Assistant, Message, ToolResults, User

__all__ = ["oldest_exchange", "oldest_pair", "sent"]

_LEFT_OUT = "[Earlier tool calls and their results were left out here to save space: {}]"
_SUMMARY = "[A summary of the conversation so far]\n{}"
_INSTRUCTIONS = "[The instructions that hold]\n{}"
_NAMED = 10


def sent(conversation: Conversation, messages: Sequence[Message], model: str) -> list[Message]:
    """What of ``messages``, all of ``conversation`` now, is sent to ``model``."""
    left_out = conversation.left_out.get(model, frozenset())
    summary = conversation.summary
    shown: list[Message] = [] if summary is None else [_summary(conversation, summary.text)]
    dropped: list[str] = []
    for place in range(0 if summary is None else summary.messages, len(messages)):
        message = messages[place]
        if place in left_out:
            dropped += [call.name for call in message.calls] if isinstance(message, Assistant) else []
            continue
        if dropped:
            shown.append(User(_LEFT_OUT.format(_names(dropped)), typed=""))
            dropped = []
        shown.append(message)
    return [*shown, User(_LEFT_OUT.format(_names(dropped)), typed="")] if dropped else shown


def oldest_pair(conversation: Conversation, messages: Sequence[Message], model: str) -> frozenset[int]:
    """The places of the oldest calls that are still sent, and of their results; not those of the last turn
    with calls. Empty where there are no others."""
    pairs = [
        place
        for place in _sent_places(conversation, messages, model)
        if isinstance(messages[place], ToolResults) and place > 0
    ]
    return frozenset((pairs[0] - 1, pairs[0])) if len(pairs) > 1 else frozenset()


def oldest_exchange(
    conversation: Conversation, messages: Sequence[Message], model: str, question: int
) -> frozenset[int]:
    """The places of the oldest question that is still sent, and of all up to the next one; never of the
    question at ``question`` and what follows it."""
    places = [place for place in _sent_places(conversation, messages, model) if place < question]
    first = next((place for place in places if isinstance(messages[place], User)), None)
    if first is None:
        return frozenset()
    following = [place for place in places if place > first and isinstance(messages[place], User)]
    end = following[0] if following else question
    return frozenset(place for place in places if first <= place < end)


def _sent_places(conversation: Conversation, messages: Sequence[Message], model: str) -> Iterator[int]:
    left_out = conversation.left_out.get(model, frozenset())
    begin = 0 if conversation.summary is None else conversation.summary.messages
    return (place for place in range(begin, len(messages)) if place not in left_out)


def _summary(conversation: Conversation, text: str) -> User:
    parts = [_SUMMARY.format(text)]
    if conversation.instructions:
        parts.append(_INSTRUCTIONS.format(conversation.instructions))
    return User("\n\n".join(parts), typed="")


def _names(names: Sequence[str]) -> str:
    known = list(dict.fromkeys(names))
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    return ", ".join(known[:_NAMED]) + more
