"""Writes a conversation into its log while it goes on: each message, and each outcome of a call, as it comes.

What could not be written is reported once, and tried again with whatever comes next: the log is always the
beginning of what happened, and the conversation goes on without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..errors import BridgeError
from ..messages import Assistant, Message, ToolOutcome, ToolResults, User
from .conversation import Beginning, Conversation
from .log import Head, Log
from .log_file import LogFile
from .message_json import message_data, plain

__all__ = ["LogJournal", "now", "title_of"]

_TITLE = 80


class LogJournal:
    """The journal of one conversation. ``make`` gives the file of a new one when there is something to write;
    ``report`` takes the sentence about the first fault.

    With ``resumed`` it goes on with that log, else begins with the whole conversation; ``origin`` is the head
    of the one that this is a copy of.
    """

    def __init__(
        self,
        make: Callable[[], LogFile] | None,
        report: Callable[[str], None],
        *,
        resumed: tuple[Log, LogFile] | None = None,
        origin: Head | None = None,
    ) -> None:
        self._make = make
        self._report = report
        self._log: Log | None = None if resumed is None else resumed[0]
        self._file: LogFile | None = None if resumed is None else resumed[1]
        self._begun = False
        self._failed = False
        self._origin = origin
        self._model = "" if origin is None else origin.model
        self._noted_model = ""
        self._early: list[dict[str, Any]] = []
        self._outcomes: dict[str, ToolOutcome] = {}
        self._messages: list[Message] = []
        self._beginnings: dict[str, Beginning] = {}
        self._state = Conversation().state()
        if self._log is not None:
            self._take(self._log.conversation)

    def update(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        """Write what is new or gone of ``messages``, and what else of the conversation has changed."""
        if messages or self._file is not None or self._log is not None:
            self._safely(lambda: self._update(conversation, messages))

    def finished(self, outcome: ToolOutcome) -> None:
        """Write the outcome of a call of the last message."""
        if self._is_awaited(outcome.call_id):
            self._safely(lambda: self._write_outcome(outcome))

    def note(self, kind: str, data: Mapping[str, Any]) -> None:
        """Write a note, together with the first message if there is none yet; that of a model only when it is
        another one than before."""
        if kind == "model":
            self._model = str(data.get("model", ""))
        elif self._begun:
            self._safely(lambda: self._append({"note": {"kind": kind, **data}}))
        else:
            self._early.append({"kind": kind, **data})

    def sync(self) -> None:
        """Make what is written last through a power cut, as far as the system can."""
        if (file := self._file) is not None:
            self._safely(file.sync)

    def close(self) -> None:
        """Let other processes go on with the conversation."""
        if self._file is not None:
            self.sync()
            self._file.close()
            self._file = None

    def _update(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        if not self._begun:
            self._begin(conversation, messages)
        self._write_beginnings(conversation)
        same = _common(self._messages, messages)
        if same < len(self._messages):
            self._keep(same)
        for message in messages[same:]:
            self._write_message(message)
        state = conversation.state()
        if state != self._state:
            self._append({"state": state})
            self._state = state

    def _begin(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        if self._log is None:
            self._begin_anew(conversation, messages)
        else:
            self._append(_opened())
            for outcome in self._log.interrupted:
                self._append({"outcome": plain(outcome)})
        self._begun = True
        early, self._early = self._early, []
        for note in early:
            self._append({"note": note})

    def _begin_anew(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        assert self._make is not None
        self._file = file = self._make()
        title = title_of(messages) if self._origin is None else self._origin.title
        forked_from = "" if self._origin is None else self._origin.id
        try:
            file.append(Head(conversation.id, now(), title, self._model, forked_from).line())
            self._append(_opened())
            if conversation.messages:
                self._append({"whole": conversation.to_data()})
                self._take(conversation)
        except BaseException:
            self._file = None
            file.close(remove=True)
            raise

    def _take(self, conversation: Conversation) -> None:
        self._messages = list(conversation.messages)
        self._beginnings = dict(conversation.beginnings)
        self._state = conversation.state()

    def _keep(self, count: int) -> None:
        self._append({"kept": count})
        del self._messages[count:]
        self._outcomes = {}

    def _write_beginnings(self, conversation: Conversation) -> None:
        if self._beginnings.keys() - conversation.beginnings.keys():
            self._append({"refreshed": True})
            self._beginnings = {}
        for model, beginning in conversation.beginnings.items():
            if self._beginnings.get(model) != beginning:
                self._append({"beginning": {"model": model, **plain(beginning)}})
                self._beginnings[model] = beginning

    def _write_message(self, message: Message) -> None:
        if self._model != self._noted_model:
            self._append({"note": {"kind": "model", "model": self._model}})
            self._noted_model = self._model
        if isinstance(message, ToolResults) and self._continues(message):
            for outcome in message.outcomes:
                if outcome.call_id not in self._outcomes:
                    self._write_outcome(outcome)
        else:
            if isinstance(message, ToolResults) and self._outcomes:
                self._append({"kept": len(self._messages)})
            self._append({"message": message_data(message)})
        self._outcomes = {}
        self._messages.append(message)

    def _continues(self, results: ToolResults) -> bool:
        """Whether ``results`` are those of the last message's calls, as far as they are written."""
        ids = [outcome.call_id for outcome in results.outcomes]
        asked = [call.id for call in self._asked().calls]
        written = {each.call_id: each for each in results.outcomes if each.call_id in self._outcomes}
        return bool(ids) and ids == asked and len(set(ids)) == len(ids) and written == self._outcomes

    def _is_awaited(self, call_id: str) -> bool:
        return call_id not in self._outcomes and call_id in {call.id for call in self._asked().calls}

    def _asked(self) -> Assistant:
        last = self._messages[-1] if self._messages else None
        return last if isinstance(last, Assistant) else Assistant()

    def _write_outcome(self, outcome: ToolOutcome) -> None:
        self._append({"outcome": plain(outcome)})
        self._outcomes[outcome.call_id] = outcome

    def _append(self, line: Mapping[str, Any]) -> None:
        if self._file is not None:
            self._file.append({**line, "at": now()})

    def _safely(self, write: Callable[[], None]) -> None:
        try:
            write()
        except (OSError, BridgeError) as fault:
            if not self._failed:
                self._failed = True
                why = (fault.strerror or str(fault)) if isinstance(fault, OSError) else str(fault)
                self._report(f"the conversation cannot be saved any further: {why}")


def _opened() -> dict[str, Any]:
    return {"opened": {"pid": os.getpid()}}


def now() -> str:
    """The time, UTC in ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def title_of(messages: Sequence[Message]) -> str:
    """The beginning of the last question."""
    asked = next((each.text for each in reversed(messages) if isinstance(each, User)), "")
    line = " ".join(asked[:1_000].split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"


def _common(written: Sequence[Message], messages: Sequence[Message]) -> int:
    pairs = zip(written, messages, strict=False)
    return next(
        (place for place, (one, other) in enumerate(pairs) if one is not other and one != other),
        min(len(written), len(messages)),
    )
