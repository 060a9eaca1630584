"""A conversation's log: a file of JSON lines, only ever appended to, and the conversation that they come to.

    {"toolspan_conversation_log": 1, "id", "created", "title", "model", "forked_from"}
    {"opened": {"pid", "host"}, "at"}
    {"message": {"role", …}, "at"}             a message, as in a saved conversation
    {"outcome": {"call_id", …}, "at"}          one call of the message before has ended
    {"kept": 4, "at"}                          only the first 4 messages are part of the conversation still
    {"beginning": {"model", "system", "tools"}, "at"}
    {"refreshed": true, "at"}                  no request begins as before
    {"state": {"usd", "calls", "tokens", "seconds", "instructions", "plan_mode", "settings", "models"}, "at"}
    {"whole": {"toolspan_conversation": 1, …}, "at"}   the whole conversation: imported, or a fork
    {"note": {"kind": "usage" | "approval" | "hook" | "model" | "plan_mode" | "limit" | …}, "at"}

A line counts when its end is there. So whatever moment the writer is ended at, the lines before hold; a call
whose outcome is missing gets one, which says that it was interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from toolspan_server.common.state.private_files import reading

from ..errors import UsageError
from ..formats.names import NameTable
from ..messages import Assistant, Message, ToolCall, ToolOutcome, ToolResults
from ..toolbox.outcomes import failed
from .conversation import Conversation, read_beginning
from .message_json import object_of, read_message, record_of, text_of

__all__ = ["LOG_MARK", "LOG_VERSION", "MAX_HEAD_BYTES", "Head", "Log", "Note", "read_head", "read_log"]

LOG_MARK = "toolspan_conversation_log"
LOG_VERSION = 1
MAX_HEAD_BYTES = 65_536

_INTERRUPTED = "The call was interrupted: the program ended before the result came."
_INTERRUPTED_ACTION = "Find out whether it had its effect before it is called again."


@dataclass(frozen=True, slots=True)
class Head:
    """The first line of a log. ``created`` is UTC in ISO 8601; ``model`` is the one that was asked first;
    ``forked_from`` is the id of the conversation that this one began as, or empty."""

    id: str
    created: str
    title: str
    model: str = ""
    forked_from: str = ""

    def line(self) -> dict[str, Any]:
        """The line's JSON object."""
        return {
            LOG_MARK: LOG_VERSION,
            "id": self.id,
            "created": self.created,
            "title": self.title,
            "model": self.model,
            "forked_from": self.forked_from,
        }


@dataclass(frozen=True, slots=True)
class Note:
    """Something beside the messages, after the first ``place`` of them: ``kind`` is ``usage``, ``notice``,
    ``approval``, ``elicitation``, ``sampling``, ``hook``, ``plan_mode``, ``model`` or ``opened``."""

    place: int
    kind: str
    at: str
    data: Mapping[str, Any]


@dataclass(slots=True)
class Log:
    """What a log came to: the ``conversation``, in which every call has its outcome, the ``notes`` beside it,
    and when each message was added (``times``, UTC in ISO 8601, empty where it is not known).

    ``interrupted`` are the outcomes that no line has. ``size`` is the length of the lines that hold, in
    bytes; ``damage`` says what is wrong after them, and is empty for a last line without an end.
    """

    head: Head
    conversation: Conversation
    notes: list[Note] = field(default_factory=list[Note])
    times: list[str] = field(default_factory=list[str])
    interrupted: tuple[ToolOutcome, ...] = ()
    size: int = 0
    damage: str = ""


def read_head(path: Path) -> Head:
    """The head of the log in ``path``. Raises ``UsageError`` when it has none, and ``OSError``."""
    with reading(path) as file:
        first = file.readline(MAX_HEAD_BYTES)
    return _head(_line(first))


def read_log(path: Path, max_bytes: int) -> Log:
    """The log in ``path``, up to the first line that is damaged.

    Raises ``UsageError`` when that is its first one, or when it has more than ``max_bytes``; and ``OSError``.
    """
    with reading(path) as file:
        first = file.readline(MAX_HEAD_BYTES)
        fold = _Fold(_head(_line(first)), len(first))
        longest = max_bytes + 1
        for number, line in enumerate(iter(lambda: file.readline(longest), b""), 2):
            if fold.log.size + len(line) > max_bytes:
                raise UsageError(f"it is larger than {max_bytes:,} bytes (conversations.max_bytes)")
            if not line.endswith(b"\n"):
                break
            try:
                fold.add(_line(line))
            except UsageError as fault:
                fold.log.damage = f"line {number}: {fault}"
                break
            fold.log.size += len(line)
    return fold.ended()


class _Fold:
    """Puts the lines of a log together."""

    def __init__(self, head: Head, size: int) -> None:
        conversation = Conversation()
        conversation.id = head.id
        self.log = Log(head, conversation, size=size)
        self._open: dict[str, tuple[ToolOutcome, str]] | None = None
        """The outcomes of the last message's calls so far."""

    def add(self, line: Mapping[str, Any]) -> None:
        """One line. Raises ``UsageError`` when it does not fit, and then nothing is changed."""
        at = text_of(line.get("at", ""), "at")
        kinds = [key for key in line if key != "at"]
        match kinds:
            case ["message"]:
                self._message(read_message(line["message"], "message"), at)
            case ["outcome"]:
                self._outcome(record_of(ToolOutcome)(line["outcome"], "outcome"), at)
            case ["kept"]:
                self._kept(line["kept"])
            case ["note"] | ["opened"]:
                self._note(kinds[0], object_of(line[kinds[0]], kinds[0]), at)
            case ["beginning"]:
                self._beginning(object_of(line["beginning"], "beginning"))
            case ["refreshed"]:
                self.log.conversation.beginnings.clear()
            case ["state"]:
                self.log.conversation.set_state(object_of(line["state"], "state"), "state")
            case ["whole"]:
                self._whole(object_of(line["whole"], "whole"), at)
            case _:
                raise UsageError(f"not a line of a conversation: {', '.join(kinds)[:80]}")

    def ended(self) -> Log:
        """The log, each call with one outcome."""
        self.log.interrupted = self._close()
        return self.log

    def _message(self, message: Message, at: str) -> None:
        if not isinstance(message, ToolResults):
            self._close()
        self._append(message, at)
        self._open = {} if isinstance(message, Assistant) and message.calls else None

    def _outcome(self, outcome: ToolOutcome, at: str) -> None:
        if self._open is None or outcome.call_id not in {call.id for call in self._calls()}:
            raise UsageError(f"an outcome of no call: {outcome.call_id[:80]!r}")
        self._open[outcome.call_id] = (outcome, at)
        if len(self._open) == len({call.id for call in self._calls()}):
            self._close()

    def _kept(self, count: Any) -> None:
        messages = self.log.conversation.messages
        if type(count) is not int or not 0 <= count <= len(messages):
            raise UsageError(f"kept must be a number up to {len(messages)}")
        self._open = None
        del messages[count:]
        del self.log.times[count:]
        self._open = {} if self._calls() else None

    def _note(self, kind: str, data: dict[str, Any], at: str) -> None:
        if kind == "note":
            kind = text_of(data.get("kind"), "note.kind")
            data = {key: value for key, value in data.items() if key != "kind"}
        if kind == "plan_mode":
            self.log.conversation.plan_mode = data.get("plan_mode") is True
        self.log.notes.append(Note(len(self.log.conversation.messages), kind, at, data))

    def _beginning(self, data: dict[str, Any]) -> None:
        model = text_of(data.get("model"), "beginning.model")
        rest = {key: value for key, value in data.items() if key != "model"}
        self.log.conversation.beginnings[model] = read_beginning(rest, "beginning")

    def _whole(self, data: dict[str, Any], at: str) -> None:
        found = Conversation.from_data(data)
        found.id = self.log.head.id
        self.log.conversation, self._open = found, None
        self.log.times = [at] * len(found.messages)

    def _close(self) -> tuple[ToolOutcome, ...]:
        """Add the results of the last message's calls; returns those that were interrupted."""
        if self._open is None:
            return ()
        calls, ended = self._calls(), self._open
        self._open = None
        tools = [NameTable.of(each.tools) for each in self.log.conversation.beginnings.values()]
        missing = {call.id: _interrupted(call, tools) for call in calls if call.id not in ended}
        outcomes = tuple(missing.get(call.id) or ended[call.id][0] for call in calls)
        self._append(ToolResults(outcomes), max((at for _, at in ended.values()), default=""))
        return tuple(missing.values())

    def _append(self, message: Message, at: str) -> None:
        self.log.conversation.messages.append(message)
        self.log.times.append(at)

    def _calls(self) -> tuple[ToolCall, ...]:
        messages = self.log.conversation.messages
        return messages[-1].calls if messages and isinstance(messages[-1], Assistant) else ()


def _interrupted(call: ToolCall, tools: Sequence[NameTable]) -> ToolOutcome:
    found = next((spec for table in tools if (spec := table.called(call.name))), None)
    name = call.name if found is None else found.name
    return failed(call.id, name, _INTERRUPTED, "cancelled", _INTERRUPTED_ACTION)


def _line(data: bytes) -> Mapping[str, Any]:
    if not data.endswith(b"\n"):
        raise UsageError("it has no end")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise UsageError("it is no JSON") from None
    if not isinstance(value, dict):
        raise UsageError("it is no object")
    return cast("dict[str, Any]", value)


def _head(line: Mapping[str, Any]) -> Head:
    version = line.get(LOG_MARK)
    if type(version) is not int or version < 1:
        raise UsageError("it is no conversation's log")
    if version > LOG_VERSION:
        raise UsageError(
            f"a newer toolspan wrote it (version {version}, this one reads {LOG_VERSION}): upgrade"
        )
    known = {key: text_of(line.get(key, ""), key) for key in ("created", "title", "model", "forked_from")}
    return Head(text_of(line.get("id"), "id"), **known)
