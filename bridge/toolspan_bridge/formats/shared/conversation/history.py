"""A conversation in the order that providers require: each call has exactly one result, directly after it."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ....messages import (
    Assistant,
    Json,
    Message,
    Part,
    ToolCall,
    ToolOutcome,
    ToolResults,
    User,
)
from ...names import legal_name

_NO_TEXT = "(no text)"
_NO_RESULT = "No result: the call was not carried out"


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A message of the user, never blank, with its attached files."""

    text: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class SentCall:
    """A past call in a form that may be sent: legal id and name, arguments an object. ``opaque`` is its
    provider state, meant for the format of its turn."""

    id: str
    name: str
    arguments: dict[str, Any]
    opaque: Json = None


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """A message of the model. It has text or calls; ``message`` is the original."""

    message: Assistant
    calls: tuple[SentCall, ...]

    def echo(self, format_name: str) -> Json:
        """The data that must be sent back verbatim, if the message came from the same format."""
        return self.message.opaque if self.message.opaque_format == format_name else None


@dataclass(frozen=True, slots=True)
class ToolResultsTurn:
    """The results of the calls just before, one for each, in their order."""

    results: tuple[tuple[SentCall, ToolOutcome], ...]


Turn = UserTurn | AssistantTurn | ToolResultsTurn


def turns(
    messages: Sequence[Message], legal_id: re.Pattern[str], echoed: str = "", *, keeps_own: bool = True
) -> list[Turn]:
    """The conversation in order. Results are moved to their calls, missing ones replaced by errors, orphans
    dropped. Ids of calls go back to the provider that made them as they came (``Assistant.origin``), unless
    one of an earlier turn is the same. Of other messages ids that are illegal or duplicate are replaced on
    both sides; of all messages without ``keeps_own``.

    Messages without text and calls are dropped, except those with something to echo to the format ``echoed``.
    """
    return list(_turns(messages, legal_id, echoed, keeps_own=keeps_own))


def chat_messages(
    system: str,
    history: Iterable[Turn],
    *,
    user: Callable[[UserTurn], dict[str, Any]],
    assistant: Callable[[AssistantTurn], dict[str, Any]],
    results: Callable[[ToolResultsTurn], Iterable[dict[str, Any]]],
) -> list[dict[str, Any]]:
    """One list, the system prompt first: the form of OpenAI's chat API and those modelled on it."""
    written: list[dict[str, Any]] = [{"role": "system", "content": system}] if system.strip() else []
    for turn in history:
        if isinstance(turn, UserTurn):
            written.append(user(turn))
        elif isinstance(turn, AssistantTurn):
            written.append(assistant(turn))
        else:
            written.extend(results(turn))
    return written


def _turns(
    messages: Sequence[Message], legal_id: re.Pattern[str], echoed: str, *, keeps_own: bool
) -> Iterator[Turn]:
    used: set[str] = set()
    for place, message in enumerate(messages):
        if isinstance(message, User):
            yield UserTurn(message.text if message.text.strip() else _NO_TEXT, message.parts)
        elif isinstance(message, Assistant) and _says(message, echoed):
            sent = tuple(
                _as_it_came(call)
                if message.origin and keeps_own and call.id not in used
                else _sent(call, f"{place}.{number}", used, legal_id)
                for number, call in enumerate(message.calls)
            )
            used |= {call.id for call in sent}
            yield AssistantTurn(message, sent)
            if sent:
                yield ToolResultsTurn(tuple(_paired(message.calls, sent, _outcomes(messages[place + 1 :]))))


def _says(message: Assistant, echoed: str) -> bool:
    to_echo = message.opaque is not None and message.opaque_format == echoed
    return bool(message.calls or message.text.strip()) or to_echo


def _sent(call: ToolCall, where: str, used: set[str], legal_id: re.Pattern[str]) -> SentCall:
    call_id = call.id
    if not legal_id.fullmatch(call_id) or call_id in used:
        identity = f"{where}\0{call.id}".encode("utf-8", "replace")
        digest = hashlib.sha256(identity).hexdigest()
        minted = (f"call_{digest[:24]}", digest[:9])
        call_id = next((each for each in minted if legal_id.fullmatch(each)), minted[0])
    used.add(call_id)
    return SentCall(call_id, legal_name(call.name), _arguments(call), call.opaque)


def _as_it_came(call: ToolCall) -> SentCall:
    """A call for the provider that made it."""
    return SentCall(call.id, legal_name(call.name), _arguments(call), call.opaque)


def _arguments(call: ToolCall) -> dict[str, Any]:
    return {"malformed_arguments": call.raw} if call.arguments is None else dict(call.arguments)


def _outcomes(following: Iterable[Message]) -> Iterator[ToolOutcome]:
    for message in following:
        if isinstance(message, Assistant):
            return
        if isinstance(message, ToolResults):
            yield from message.outcomes


def _paired(
    calls: Sequence[ToolCall], sent: Sequence[SentCall], outcomes: Iterable[ToolOutcome]
) -> Iterator[tuple[SentCall, ToolOutcome]]:
    by_id: defaultdict[str, deque[ToolOutcome]] = defaultdict(deque)
    for outcome in outcomes:
        by_id[outcome.call_id].append(outcome)
    for call, wire in zip(calls, sent, strict=True):
        waiting = by_id[call.id]
        yield wire, waiting.popleft() if waiting else _missing_outcome(call)


def _missing_outcome(call: ToolCall) -> ToolOutcome:
    result = {
        "success": False,
        "error": _NO_RESULT,
        "error_code": "no_result",
        "user_action": "",
        "tool_name": call.name,
        "execution_time_ms": 0,
    }
    return ToolOutcome(call.id, call.name, result)
