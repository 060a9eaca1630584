"""The common part of streams of JSON objects, which accumulate to the body of a whole answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ....messages import Assistant, Reply
from ....messages.deltas import Delta, TextDelta
from ..contract import FormatError, StreamFailed
from ..json_values import TooManyValues, as_list, as_object, compact, load, snippet
from .errors import error_for_answer, error_in_answer
from .thoughts import TaggedThoughts

__all__ = ["DONE", "BodyStream", "CallIds", "TextPieces", "broken_off", "data_of"]

DONE = "[DONE]"
"""The data of the last event of OpenAI's streams, and of servers that write it after any stream."""


class TextPieces:
    """A text in chunks. Half of a surrogate pair is held back until its other half arrives."""

    __slots__ = ("_held", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._held = ""

    def add(self, piece: str) -> str:
        """Append to the text; returns what can be shown now."""
        if self._held or not piece.isascii():
            piece = _paired(self._held + piece)
            self._held = piece[-1:] if "\ud800" <= piece[-1:] <= "\udbff" else ""
            piece = piece[: len(piece) - len(self._held)]
        if piece:
            self._pieces.append(piece)
        return piece

    @property
    def text(self) -> str:
        """The whole text so far."""
        return "".join(self._pieces) + self._held


class CallIds:
    """The ids of the calls that a stream has shown: one that comes again under its id is not shown again."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def repeats(self, call_id: Any) -> bool:
        """Whether a call of this id has been shown; the next one with it will have been."""
        if not isinstance(call_id, str) or not call_id:
            return False
        if call_id in self._known:
            return True
        self._known.add(call_id)
        return False


class BodyStream(ABC):
    """A ``StreamParser`` over JSON events, which accumulate to the body of a whole answer.

    A format defines the framing, the effect of an event, when the answer is complete, and its body so far.
    Thoughts in tags in its text are told from the answer here, as ``reply`` does of a whole one.
    ``HAS_TYPES``: each event has a type, of which ``error`` is one.
    """

    HAS_TYPES = False

    def __init__(self) -> None:
        self._failed = False
        self._tagged = TaggedThoughts()

    @abstractmethod
    def _frames(self, chunk: bytes) -> Iterable[str | bytes]:
        """The JSON of the events that ``chunk`` completes."""

    @abstractmethod
    def _last_frames(self) -> Iterable[str | bytes]:
        """The JSON of an event that the end of the stream left open; it may be truncated."""

    @abstractmethod
    def _take(self, event: dict[str, Any]) -> Iterable[Delta]:
        """Process an event. Raises ``StreamFailed`` when it reports that the provider failed."""

    @abstractmethod
    def _whole(self) -> bool:
        """Whether the answer is complete."""

    @abstractmethod
    def _reply(self) -> Reply:
        """The answer so far, parsed by the format's ``parse_reply``."""

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether nothing more of the answer will arrive."""

    def feed(self, chunk: bytes) -> list[Delta]:
        """The deltas in ``chunk``. Raises ``StreamFailed``, ``FormatError``; ``end`` still returns what was
        received.
        """
        deltas: list[Delta] = []
        try:
            for frame in self._frames(chunk):
                if not self.finished:
                    deltas += self._frame(frame)
        except FormatError as fault:
            self._failed = True
            fault.before = deltas
            raise
        return deltas

    def end(self) -> Reply:
        """The reply; ``incomplete`` when the answer's end is missing or the stream failed."""
        if not self.finished and not self._failed:
            self._finish()
        if self._whole() and not self._failed:
            return self._reply()
        try:
            broken = broken_off(self._reply())
        except FormatError:
            return Reply(Assistant(incomplete=True), "other", incomplete=True)
        if self._tagged.undecided:  # half a tag is no text
            return replace(broken, message=Assistant(incomplete=True))
        return broken

    def _finish(self) -> None:
        """Process an event that the end left open, unless it is truncated."""
        for frame in self._last_frames():
            try:
                self._frame(frame)
            except StreamFailed:
                self._failed = True
            except FormatError:
                return

    def _frame(self, frame: str | bytes) -> list[Delta]:
        event = _object_in(frame)
        if event is None:
            raise FormatError(f"the stream holds what is no JSON object: {snippet(frame)}")
        told_by_format = event.get("error") or (self.HAS_TYPES and event.get("type") == "error")
        error = error_in_answer(event)
        deltas = list(self._told(event)) if error is None or told_by_format else []
        if error is not None:  # in a shape that the format does not know
            raise StreamFailed(error_for_answer(error))
        return deltas

    def _told(self, event: dict[str, Any]) -> Iterator[Delta]:
        for delta in self._take(event):
            if isinstance(delta, TextDelta):
                yield from self._tagged.feed(delta.text)
            else:
                yield delta
        if self._whole():
            yield from self._tagged.end()


def data_of(events: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The JSON of server-sent ``events``: what stands for the end of a stream is left out, and an event that
    is named ``error`` is one, whatever it holds."""
    for name, data in events:
        if data.strip() not in ("", DONE):
            yield _as_error(data) if name == "error" else data


def _as_error(data: str) -> str:
    body = _object_in(data)
    if body is not None and (body.get("error") or error_in_answer(body)):
        return data
    return compact({"error": {"message": snippet(data)}})


def _object_in(frame: str | bytes) -> dict[str, Any] | None:
    """The JSON object of an event, also where it is in a list of one."""
    try:
        value = load(frame)
    except TooManyValues as excess:
        raise FormatError(f"an event of the stream {excess}") from None
    except ValueError:
        return None
    listed = as_list(value) or ()
    return as_object(listed[0] if len(listed) == 1 else value)


def broken_off(reply: Reply) -> Reply:
    """The reply of a stream that broke off: its text is kept, its calls are set aside, its echo dropped."""
    return replace(
        reply,
        message=Assistant(reply.message.text, incomplete=True, citations=reply.message.citations),
        stop="other",
        cut_calls=reply.message.calls or reply.cut_calls,
        incomplete=True,
    )


def _paired(piece: str) -> str:
    return piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
