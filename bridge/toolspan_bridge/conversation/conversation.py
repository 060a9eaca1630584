"""A conversation on disk: every message exactly as it was, to be gone on with later, with any provider.

    {"toolspan_conversation": 1, "messages": [
        {"role": "user", "text", "parts": [{"type", "data"}]},
        {"role": "assistant", "text", "calls": [{"id", "name", "arguments", "raw", "malformed", "opaque"}],
         "opaque", "opaque_format", "incomplete", "origin",
         "citations": [{"url", "title", "start", "end", "quoted"}], "written"},
        {"role": "tool_results", "outcomes": [{"call_id", "name", "result", "parts", "structured",
          "approval"}]}],
     "id", "usd", "calls", "tokens", "seconds", "instructions", "plan_mode",
     "settings": {"system", "tools": ["off GLOB"]},
     "modes": {"PROVIDER/MODEL": "prompt.WORDING"}, "told": [NOTE],
     "models": {"PROVIDER/MODEL": {"requests", "input_tokens", "output_tokens", "cached_tokens", "usd"}},
     "beginnings": {"PROVIDER/MODEL": {"system", "tools": [{"server", "name", "description", "schema", …}]}}}

What a provider must get back verbatim is kept as ``opaque``. It goes to its own format only, at the provider
that it came from. Files without ``id`` and what follows it are older, and as good.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, cast

from ..errors import StoreError, UsageError
from ..files.replacement import replace_file
from ..messages import Mark, Message, ToolOutcome, ToolSpec, Usage
from .message_json import (
    amount,
    count_of,
    items_of,
    message_data,
    object_of,
    plain,
    read_message,
    record_of,
    text_of,
)
from .settings import ModelUse, Settings

__all__ = ["MAX_BYTES", "VERSION", "Beginning", "Conversation", "Journal", "Summary", "read_beginning"]

VERSION = 1
MAX_BYTES = 64 * 1024 * 1024
"""The largest file that is written or read."""

_MARK = "toolspan_conversation"


@dataclass(frozen=True, slots=True)
class Beginning:
    """What every request of a conversation to one model begins with: providers keep it, and some bind the
    model's thoughts to it. Tools may only be added, at its end."""

    system: str
    tools: tuple[ToolSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands for the first ``messages`` of a conversation in requests."""

    text: str
    messages: int


_read_summary = record_of(Summary, {"text": text_of, "messages": count_of})
_read_settings = record_of(Settings, {"system": text_of, "tools": items_of(text_of)})
_read_use = record_of(
    ModelUse,
    dict.fromkeys(("requests", "input_tokens", "output_tokens", "cached_tokens"), count_of) | {"usd": amount},
)
read_beginning = record_of(Beginning, {"system": text_of, "tools": items_of(record_of(ToolSpec))})
"""Reads the JSON of a ``Beginning``."""


class Journal(Protocol):
    """Keeps a conversation while it goes on, and raises nothing: a fault of its own is its own to report."""

    def update(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        """``messages`` are all of ``conversation`` now, also those of a question that is not answered yet.

        The last one may have calls whose outcomes come later. What was there before and is not now, was
        dropped.
        """
        ...

    def finished(self, outcome: ToolOutcome) -> None:
        """A call of the last message has ended."""
        ...

    def note(self, kind: str, data: Mapping[str, Any]) -> None:
        """Something beside the messages that is worth keeping; ``data`` is JSON."""
        ...


class Conversation:
    """The messages of a conversation, to be gone on with by any provider and kept in a file.

    It is the ``transcript`` that ``run`` and ``answer`` take: each question and what came of it is added to
    ``messages``. ``id`` is its own random name. ``beginnings`` are what the requests to each model
    (``provider/model``) begin with, and ``instructions`` is the last system prompt that was given later, in
    a message, or ``None``. ``usd`` is what it cost so far, ``None`` where that is unknown; ``calls``,
    ``tokens`` and ``seconds`` are the tool calls that were made, the tokens in and out, and the time that its
    questions took. ``summary`` is sent in the place of the first messages, if there is one, and ``left_out``
    are the places of messages that are not sent to a model (``provider/model``) any more: ``messages`` keeps
    them all. ``settings`` are what a person set for it alone, ``models`` what each model
    (``provider/model``) used, and ``modes`` the prompt, ``prompt.WORDING``, of each that is asked by one
    because that was measured to serve it better. ``inherited`` are the marks of the conversation whose agent
    started this one, and ``is_agents`` says that one did: its messages of the user are that agent's words.
    ``told`` are the notes on requests that were told once. A ``journal`` is told of everything as it happens.
    The file is JSON: ``{"toolspan_conversation": 1, "messages": [{"role", …}], "id", …}``.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self.messages: list[Message] = list(messages)
        self.id = secrets.token_hex(16)
        self.beginnings: dict[str, Beginning] = {}
        self.instructions: str | None = None
        self.usd: float | None = None if self.messages else 0.0
        self.calls = 0
        self.tokens = 0
        self.seconds = 0.0
        self.summary: Summary | None = None
        self.left_out: dict[str, frozenset[int]] = {}
        self.settings = Settings()
        self.models: dict[str, ModelUse] = {}
        self.modes: dict[str, str] = {}
        self.inherited: tuple[Mark, ...] = ()
        self.is_agents = False
        self._plan_mode = False
        self.journal: Journal | None = None
        self.told: set[str] = set()

    @classmethod
    def over(cls, messages: list[Message]) -> Self:
        """A conversation whose messages are the list ``messages`` itself."""
        conversation = cls()
        conversation.messages = messages
        return conversation

    @property
    def plan_mode(self) -> bool:
        """Whether only tools that read may be called, until a plan is approved."""
        return self._plan_mode

    @plan_mode.setter
    def plan_mode(self, planning: bool) -> None:
        if planning != self._plan_mode:
            self._plan_mode = planning
            self.note("plan_mode", {"plan_mode": planning})

    def refresh(self) -> None:
        """Let the next request to each model begin with the system prompt and the tools of its question.

        What providers keep of the earlier beginning is of no use then, and models' thoughts may be lost.
        """
        self.beginnings.clear()

    def spend(self, usd: float | None) -> None:
        """Add a request's cost in US dollars; ``None`` makes that of the whole unknown. ``run`` does so."""
        self.usd = None if usd is None or self.usd is None else self.usd + usd

    def count(self, model: str, usage: Usage, usd: float | None) -> None:
        """Add a request to ``model`` (``provider/model``) to what the models used; ``run`` does so."""
        self.models[model] = self.models.get(model, ModelUse()).plus(usage, usd)

    def record(self, further: Sequence[Message] = ()) -> None:
        """Tell the journal what the conversation is now: its messages, and ``further`` ones of a question
        that is not answered yet."""
        if self.journal is not None:
            self.journal.update(self, (*self.messages, *further))

    def note(self, kind: str, data: Mapping[str, Any]) -> None:
        """Tell the journal of something beside the messages."""
        if self.journal is not None:
            self.journal.note(kind, data)

    def to_json(self) -> bytes:
        """The conversation as JSON, at most 64 MiB. Raises ``StoreError`` when it holds more, or no JSON."""
        try:
            data = json.dumps(self.to_data(), indent=1).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise StoreError(f"the conversation cannot be written as JSON: {error}") from None
        if len(data) > MAX_BYTES:
            raise StoreError(
                f"the conversation is too large to be saved: {len(data):,} of {MAX_BYTES:,} bytes"
            )
        return data

    def to_data(self) -> dict[str, Any]:
        """The JSON object that ``from_data`` takes."""
        beginnings = {model: plain(beginning) for model, beginning in self.beginnings.items()}
        return {
            _MARK: VERSION,
            "messages": [message_data(message) for message in self.messages],
            "id": self.id,
            "beginnings": beginnings,
            **self.state(),
        }

    def state(self) -> dict[str, Any]:
        """What there is beside the messages and the beginnings, as JSON: ``{"usd", "calls", "tokens",
        "seconds", "instructions"}``, and, where there are such, ``"plan_mode": true``, ``"summary": {"text",
        "messages"}``, ``"left_out": {model: [place]}``, ``"settings"``, ``"modes"``, ``"told": [note]`` and
        ``"models"``."""
        return {
            "usd": self.usd,
            "calls": self.calls,
            "tokens": self.tokens,
            "seconds": round(self.seconds, 3),
            "instructions": self.instructions,
            **({"plan_mode": True} if self.plan_mode else {}),
            **({"inherited": [plain(mark) for mark in self.inherited]} if self.inherited else {}),
            **({"agents": True} if self.is_agents else {}),
            **({} if self.summary is None else {"summary": plain(self.summary)}),
            **({"left_out": self._left_out()} if self.left_out else {}),
            **({"settings": plain(self.settings)} if self.settings != Settings() else {}),
            **({"modes": dict(self.modes)} if self.modes else {}),
            **({"told": sorted(self.told)} if self.told else {}),
            **({"models": {model: plain(use) for model, use in self.models.items()}} if self.models else {}),
        }

    def _left_out(self) -> dict[str, list[int]]:
        return {model: sorted(places) for model, places in self.left_out.items()}

    def set_state(self, whole: Mapping[str, Any], where: str = "$") -> None:
        """Take the values of ``state``. Raises ``UsageError`` that says what is wrong, and where."""
        instructions = whole.get("instructions")
        self.instructions = None if instructions is None else text_of(instructions, f"{where}.instructions")
        self.usd = amount(whole.get("usd", self.usd), f"{where}.usd")
        self.calls = count_of(whole.get("calls", 0), f"{where}.calls")
        self.tokens = count_of(whole.get("tokens", 0), f"{where}.tokens")
        self.seconds = amount(whole.get("seconds", 0.0), f"{where}.seconds") or 0.0
        self._plan_mode = whole.get("plan_mode") is True
        self.inherited = items_of(record_of(Mark))(whole.get("inherited", []), f"{where}.inherited")
        self.is_agents = whole.get("agents") is True
        summary = whole.get("summary")
        self.summary = None if summary is None else _read_summary(summary, f"{where}.summary")
        left_out = object_of(whole.get("left_out", {}), f"{where}.left_out")
        self.left_out = {
            model: frozenset(items_of(count_of)(places, f"{where}.left_out.{model}"))
            for model, places in left_out.items()
        }
        self.settings = _read_settings(whole.get("settings", {}), f"{where}.settings")
        modes = object_of(whole.get("modes", {}), f"{where}.modes")
        self.modes = {model: text_of(mode, f"{where}.modes.{model}") for model, mode in modes.items()}
        self.told = set(items_of(text_of)(whole.get("told", []), f"{where}.told"))
        models = object_of(whole.get("models", {}), f"{where}.models")
        self.models = {model: _read_use(use, f"{where}.models.{model}") for model, use in models.items()}

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The conversation in ``data``. Raises ``UsageError`` that says what is wrong, and where."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"it is no JSON, or damaged ({str(error)[:200]})") from None
        return cls.from_data(cast("dict[str, Any]", value) if isinstance(value, dict) else {})

    @classmethod
    def from_data(cls, whole: Mapping[str, Any]) -> Self:
        """The conversation of ``to_data``. Raises ``UsageError`` that says what is wrong, and where."""
        version = whole.get(_MARK)
        if type(version) is not int or version < 1:
            raise UsageError("it is no saved conversation")
        if version > VERSION:
            raise UsageError(
                f"a newer toolspan saved it (version {version}, this one reads {VERSION}): upgrade"
            )
        found = cls(items_of(read_message)(whole.get("messages"), "$.messages"))
        found.id = text_of(whole.get("id", found.id), "$.id")
        found.set_state(whole)
        for model, beginning in object_of(whole.get("beginnings", {}), "$.beginnings").items():
            found.beginnings[model] = read_beginning(beginning, f"$.beginnings.{model}")
        return found

    def save(self, path: Path) -> None:
        """Put the conversation into ``path``, whole or not at all; only its owner may read a new file.

        Raises ``StoreError`` when it cannot be written; what was there before is there still.
        """
        data = self.to_json()
        try:
            replace_file(path.resolve(), data)
        except OSError as fault:
            raise StoreError(f"the conversation cannot be saved as {path}: {fault.strerror}") from None

    @classmethod
    def load(cls, path: Path) -> Self:
        """The conversation in ``path``. Raises ``UsageError`` when there is none that can be read."""
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise UsageError(f"it is larger than {MAX_BYTES:,} bytes")
            return cls.from_json(data)
        except OSError as fault:
            raise UsageError(f"the conversation {path} cannot be read: {fault.strerror}") from None
        except UsageError as fault:
            raise UsageError(f"the conversation {path} cannot be read: {fault}") from None
