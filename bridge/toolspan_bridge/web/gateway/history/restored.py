"""The history of a request as the provider knows it: what the client did not see is put back in its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ....conversation.message_json import message_data
from ....messages import Assistant, Message, ToolResults, User
from .hidden import Hidden, HiddenTurns

__all__ = ["Digests", "History", "restored"]


@dataclass(frozen=True, slots=True)
class History:
    """``messages`` as the provider knows them, and the id of their ``conversation``, empty where it is new.
    ``visible`` are those that the client sees. ``unknown``: some of its answers are not known here, nor which
    calls they came after."""

    messages: tuple[Message, ...]
    visible: tuple[Message, ...]
    conversation: str = ""
    unknown: bool = False


class Digests:
    """The keys of ``visible``: each of a message and all before it, but for blanks around texts."""

    def __init__(self, visible: Sequence[Message]) -> None:
        self._so_far = hashlib.sha256()
        self.keys = [self._add(message) for message in visible]

    def after(self, answer: Assistant) -> str:
        """The key of ``answer`` to all of them."""
        later = Digests(())
        later._so_far = self._so_far.copy()
        return later._add(answer)

    def _add(self, message: Message) -> str:
        written = json.dumps(_plain(message), sort_keys=True, default=str)
        self._so_far.update(written.encode("utf-8", "replace"))
        return f"answer:{self._so_far.hexdigest()}"


def restored(visible: Sequence[Message], digests: Digests, hidden: HiddenTurns, principal: str) -> History:
    """The history that the client of ``principal`` sent, whose ``digests`` these are, with what is ``hidden``
    of it.

    An answer that is no longer known stays as the client has it.
    """
    found: list[Message] = []
    conversation, last, unknown = "", None, False
    for message, known_as in zip(visible, digests.keys, strict=True):
        if isinstance(message, Assistant):
            key = message.calls[0].id if message.calls else known_as
            last = hidden.find(principal, key)
            found += [message] if last is None else last.messages
            unknown = unknown or last is None
            conversation = conversation if last is None else last.conversation
        elif isinstance(message, ToolResults) and last is not None and isinstance(found[-1], ToolResults):
            found[-1] = _joined(found[-1], message, last)
        else:
            found.append(message)
    return History(tuple(found), tuple(visible), conversation, unknown)


def _joined(ours: ToolResults, clients: ToolResults, hidden: Hidden) -> ToolResults:
    """The results of one turn: those of our calls and those that the client sent, by the provider's ids."""
    sent = [
        replace(outcome, call_id=hidden.ids.get(outcome.call_id, outcome.call_id))
        for outcome in clients.outcomes
    ]
    return ToolResults((*ours.outcomes, *sent))


def _plain(message: Message) -> object:
    match message:
        case User():
            return {**message_data(message), "text": message.text.strip()}
        case Assistant():
            return {"said": message.text.strip(), "calls": [call.id for call in message.calls]}
        case ToolResults():
            return {"results": [outcome.call_id for outcome in message.outcomes]}
