"""The history of a request as the provider knows it: what the client did not see is put back in its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ....conversation.message_json import message_data
from ....messages import Assistant, Message, ToolResults, User
from .hidden import Hidden, HiddenTurns

__all__ = ["History", "digest", "restored"]


@dataclass(frozen=True, slots=True)
class History:
    """``messages`` as the provider knows them, and the id of their ``conversation``, empty where it is new.
    ``visible`` are those that the client sees. ``unknown``: some of its answers are not known here, nor which
    calls they came after."""

    messages: tuple[Message, ...]
    visible: tuple[Message, ...]
    conversation: str = ""
    unknown: bool = False


def digest(visible: Sequence[Message]) -> str:
    """The key of an answer: of all that the client sees up to and with it, but for blanks around texts."""
    return _digests(visible)[-1]


def restored(visible: Sequence[Message], hidden: HiddenTurns, principal: str) -> History:
    """The history that the client of ``principal`` sent, with what is ``hidden`` of it.

    An answer that is no longer known stays as the client has it.
    """
    found: list[Message] = []
    conversation, last, unknown = "", None, False
    digests = _digests(visible)
    for message, known_as in zip(visible, digests, strict=True):
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


def _digests(visible: Sequence[Message]) -> list[str]:
    """For each message, the digest of it and all before it."""
    so_far, found = hashlib.sha256(), list[str]()
    for message in visible:
        so_far.update(json.dumps(_plain(message), sort_keys=True, default=str).encode("utf-8", "replace"))
        found.append(f"answer:{so_far.hexdigest()}")
    return found


def _plain(message: Message) -> object:
    match message:
        case User():
            return {**message_data(message), "text": message.text.strip()}
        case Assistant():
            return {"said": message.text.strip(), "calls": [call.id for call in message.calls]}
        case ToolResults():
            return {"results": [outcome.call_id for outcome in message.outcomes]}
