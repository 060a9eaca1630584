"""What every stream of JSON objects does: add up to the body that the API would have sent whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ....deltas import Delta
from ....messages import Assistant, Reply
from ..contract import FormatError, StreamFailed
from ..json_values import as_object, load, snippet

__all__ = ["BodyStream", "TextPieces", "broken_off"]


class TextPieces:
    """A text in pieces. Half of a surrogate pair waits for its other half, which may be in the next piece."""

    __slots__ = ("_held", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._held = ""

    def add(self, piece: str) -> str:
        """More of the text; gives what of it can be shown now."""
        if self._held or not piece.isascii():
            piece = _paired(self._held + piece)
            self._held = piece[-1:] if "\ud800" <= piece[-1:] <= "\udbff" else ""
            piece = piece[: len(piece) - len(self._held)]
        if piece:
            self._pieces.append(piece)
        return piece

    @property
    def text(self) -> str:
        """The whole so far."""
        return "".join(self._pieces) + self._held


class BodyStream(ABC):
    """A ``StreamParser`` over JSON events, which gather into the body of a whole answer.

    A format says how bytes are framed, what an event adds, when the answer is whole, and what body has come.
    """

    def __init__(self) -> None:
        self._failed = False

    @abstractmethod
    def _frames(self, chunk: bytes) -> Iterable[str | bytes]:
        """The JSON of the events that ``chunk`` completes."""

    @abstractmethod
    def _last_frames(self) -> Iterable[str | bytes]:
        """The JSON of an event that the end of the stream left open; it may be cut."""

    @abstractmethod
    def _take(self, event: dict[str, Any]) -> Iterable[Delta]:
        """Add an event. Raises ``StreamFailed`` when it says that the provider failed."""

    @abstractmethod
    def _whole(self) -> bool:
        """Whether the answer came to its own end."""

    @abstractmethod
    def _reply(self) -> Reply:
        """What has come, by the format's ``parse_reply``."""

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether nothing more of the answer will come."""

    def feed(self, chunk: bytes) -> list[Delta]:
        """What ``chunk`` adds. Raises ``StreamFailed``, ``FormatError``; ``end`` still gives what came."""
        deltas: list[Delta] = []
        try:
            for frame in self._frames(chunk):
                if not self.finished:
                    deltas += self._frame(frame)
        except FormatError:
            self._failed = True
            raise
        return deltas

    def end(self) -> Reply:
        """The reply; ``incomplete`` when the answer's end is missing or the stream failed."""
        if not self.finished and not self._failed:
            self._finish()
        if self._whole() and not self._failed:
            return self._reply()
        try:
            return broken_off(self._reply())
        except FormatError:
            return Reply(Assistant(incomplete=True), "other", incomplete=True)

    def _finish(self) -> None:
        """Take what the end left open, unless it is cut."""
        for frame in self._last_frames():
            try:
                self._frame(frame)
            except StreamFailed:
                self._failed = True
            except FormatError:
                return

    def _frame(self, frame: str | bytes) -> list[Delta]:
        try:
            event = as_object(load(frame))
        except ValueError:
            event = None
        if event is None:
            raise FormatError(f"the stream holds what is no JSON object: {snippet(frame)}")
        return list(self._take(event))


def broken_off(reply: Reply) -> Reply:
    """A reply whose stream broke off: its text is kept, its calls are set aside, its echo is no use."""
    return replace(
        reply,
        message=Assistant(reply.message.text, incomplete=True),
        stop="other",
        cut_calls=reply.message.calls or reply.cut_calls,
        incomplete=True,
    )


def _paired(piece: str) -> str:
    return piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
