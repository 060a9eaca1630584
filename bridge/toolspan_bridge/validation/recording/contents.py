"""What is in a recording, read back: the tools, the models, and of each trial what it was answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolspan_server.engines.upstreams import ListedTool

from ...conversation.message_json import (
    count_of,
    flag_of,
    items_of,
    object_of,
    record_of,
    text_of,
)
from ...errors import BridgeError, UsageError
from ...messages import Reply, ToolOutcome
from ...providers.identity import Identity
from ..runs.attempt import Place
from .file import lines_of
from .records import read_error, read_listed, read_place, read_reply
from .requests import Asked, Tools

__all__ = ["Recorded", "RecordedCall", "RecordedModel", "RecordedServer", "RecordedTrial", "RecordedTurn"]


@dataclass(frozen=True, slots=True)
class RecordedServer:
    """A server and its tools as it listed them; ``own``: it was one of ours."""

    name: str
    own: bool
    tools: tuple[ListedTool, ...]


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """A model (``provider/model``), its ``name`` at its ``provider``, and what is told of that."""

    model: str
    provider: str
    name: str
    format: str
    searches_tools: bool
    price_share: float
    identity: Identity


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """What a model was asked, and its answer; ``None`` where the trial was ended before it came."""

    asked: Asked
    answer: Reply | BridgeError | None


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call of a tool; ``outcome`` is ``None`` where the trial was ended before there was one."""

    id: str
    server: str
    tool: str
    arguments: Mapping[str, Any]
    outcome: ToolOutcome | None


@dataclass(slots=True)
class RecordedTrial:
    """What came of one trial; ``end`` is how it was kept: ``{"success", "is_error", "error", "timestamp",
    "details", "run", "number", "fingerprint"}``; ``None`` where the run was ended before."""

    place: Place
    turns: list[RecordedTurn] = field(default_factory=list[RecordedTurn])
    calls: list[RecordedCall] = field(default_factory=list[RecordedCall])
    end: Mapping[str, Any] | None = None
    order: int = 0
    """How many lines of the recording are before its end."""
    errors: list[tuple[Mapping[str, Any], int]] = field(default_factory=list[tuple[Mapping[str, Any], int]])
    """The ends, each with its order, of earlier attempts, which were errors: the run was gone on with."""


@dataclass(slots=True)
class Recorded:
    """A recording: its ``servers``, ``models`` by name, ``trials`` by place, and the ``offered`` tools of the
    requests by their hash. ``run`` is the id of the run, which ``started`` then (ISO 8601 UTC); ``notes`` are
    what was said when it was gone on with last."""

    path: Path
    run: str = ""
    started: str = ""
    notes: tuple[str, ...] = ()
    servers: dict[str, RecordedServer] = field(default_factory=dict[str, RecordedServer])
    models: dict[str, RecordedModel] = field(default_factory=dict[str, RecordedModel])
    trials: dict[Place, RecordedTrial] = field(default_factory=dict[Place, RecordedTrial])
    offered: dict[str, Tools] = field(default_factory=dict[str, Tools])

    @classmethod
    def read(cls, path: Path) -> Recorded:
        """The recording in ``path``. Raises ``UsageError``, with the line that is at fault."""
        found = cls(path)
        try:
            for number, (_, line) in enumerate(lines_of(path.resolve()), 1):
                try:
                    found._take(line, number)
                except UsageError as fault:
                    raise UsageError(f"{path}:{number}: no line of a recording: {fault}") from None
        except OSError as fault:
            raise UsageError(f"the recording {path} cannot be read: {fault.strerror}") from None
        if not found.run:
            raise UsageError(f"the recording {path} is empty: the run was ended before it began")
        return found

    def _take(self, line: Mapping[str, Any], number: int) -> None:
        match line:
            case {"run": run, "started": started} if number == 1:
                self.run, self.started = text_of(run, "run"), text_of(started, "started")
            case {"resumed": {"notes": notes}}:
                self.notes = items_of(text_of)(notes, "resumed.notes")
            case {"server": server}:
                read = _server(server, "server")
                self.servers[read.name] = read
            case {"model": model}:
                known = _model(model, "model")
                self.models[known.model] = known
            case {"offered": offered}:
                tools = _offered(offered, "offered")
                self.offered[tools.hash] = tools
            case {"began": place}:
                where = read_place(place, "began")
                self.trials[where] = RecordedTrial(where, errors=_errors(self.trials.get(where)))
            case {"at": place}:
                _take_of(self._trial(read_place(place, "at")), line, number)
            case _:
                raise UsageError(f"unknown {', '.join(line)[:80]}")

    def _trial(self, place: Place) -> RecordedTrial:
        if place not in self.trials:
            raise UsageError("it is of a trial that was not begun")
        return self.trials[place]


def _errors(before: RecordedTrial | None) -> list[tuple[Mapping[str, Any], int]]:
    """What an attempt that begins again leaves of the one ``before``."""
    if before is None:
        return []
    end = before.end
    return [*before.errors, *([(end, before.order)] if end is not None and end["is_error"] else [])]


def _take_of(trial: RecordedTrial, line: Mapping[str, Any], number: int) -> None:
    match line:
        case {"reply": reply, "asked": asked}:
            trial.turns.append(RecordedTurn(_asked(asked, "asked"), read_reply(reply, "reply")))
        case {"error": error, "asked": asked}:
            trial.turns.append(RecordedTurn(_asked(asked, "asked"), read_error(error, "error")))
        case {"unanswered": True, "asked": asked}:
            trial.turns.append(RecordedTurn(_asked(asked, "asked"), None))
        case {"call": call}:
            trial.calls.append(_call(call, "call"))
        case {"trial": end}:
            trial.end, trial.order = _end(end, "trial"), number
        case _:
            raise UsageError(f"unknown {', '.join(line)[:80]}")


def _server(value: Any, where: str) -> RecordedServer:
    given = object_of(value, where)
    tools = items_of(read_listed)(given.get("tools"), f"{where}.tools")
    name = text_of(given.get("name"), f"{where}.name")
    return RecordedServer(name, flag_of(given.get("own"), f"{where}.own"), tools)


_identity = record_of(Identity, {"base_url": text_of, "format_name": text_of, "version": text_of})


def _price(value: Any, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise UsageError(f"{where}: must be a number")
    return float(value)


_model = record_of(
    RecordedModel,
    {
        "model": text_of,
        "provider": text_of,
        "name": text_of,
        "format": text_of,
        "searches_tools": flag_of,
        "price_share": _price,
        "identity": _identity,
    },
)


def _offered(value: Any, where: str) -> Tools:
    given = object_of(value, where)
    each = object_of(given.get("tools"), f"{where}.tools")
    known = {name: text_of(item, f"{where}.tools.{name}") for name, item in each.items()}
    return Tools(text_of(given.get("hash"), f"{where}.hash"), known)


_asked = record_of(
    Asked, {"system": text_of, "tools": text_of, "messages": items_of(text_of), "settings": object_of}
)


def _call(value: Any, where: str) -> RecordedCall:
    given = object_of(value, where)
    call_id, server, tool = (text_of(given.get(key), f"{where}.{key}") for key in ("id", "server", "tool"))
    outcome = given.get("outcome")
    found = None if outcome is None else record_of(ToolOutcome)(outcome, f"{where}.outcome")
    arguments = object_of(given.get("arguments"), f"{where}.arguments")
    return RecordedCall(call_id, server, tool, arguments, found)


def _end(value: Any, where: str) -> Mapping[str, Any]:
    given = object_of(value, where)
    for key in ("success", "is_error"):
        flag_of(given.get(key), f"{where}.{key}")
    for key in ("error", "timestamp", "run", "fingerprint"):
        text_of(given.get(key), f"{where}.{key}")
    object_of(given.get("details"), f"{where}.details")
    count_of(given.get("number"), f"{where}.number")
    return given
