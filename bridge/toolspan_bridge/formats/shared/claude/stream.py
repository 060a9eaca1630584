"""Parses Claude's streamed answers: events that accumulate, block by block, to the message.

Source: anthropic 2.12.0, ``types/raw_message_stream_event.py``. Blocks may be interleaved; ``ping`` and
events of unknown types are ignored. Some servers send ``message_start`` twice: it begins one message.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from typing_extensions import override

from ....messages import Reply
from ....messages.deltas import (
    CallDelta,
    Delta,
    ReasoningDelta,
    TextDelta,
)
from ..contract import StreamFailed
from ..json_values import (
    as_list,
    as_object,
    at,
    compact,
    is_object,
    load,
    text,
)
from ..replies.stream import BodyStream, CallIds, TextPieces
from .parse import (
    explanation,
    is_call,
    parse_error,
    parse_message,
    status_of,
)

__all__ = ["MessageStream"]

_FIELDS = {
    "input_json_delta": ("partial_json", "input"),
    "signature_delta": ("signature", "signature"),
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
}


class _Block:
    """One content block in progress. ``place`` is the index of its call among those that are shown; a call
    that came before has none."""

    def __init__(self, start: Mapping[str, Any], place: int | None) -> None:
        self.start = dict(start)
        self.place = place
        self.closed = False
        self._pieces: dict[str, TextPieces] = {}
        self._citations: list[Any] = []

    def begin(self) -> Iterable[Delta]:
        """Process the block's start."""
        if is_call(self.start) and self.place is not None:
            given = self.start.get("input")
            yield CallDelta(self.place, text(self.start.get("name")), compact(given) if given else "")
        for field, kind in (("text", TextDelta), ("thinking", ReasoningDelta)):
            begun = self.start.pop(field, None) if self.start.get("type") == field else None
            if shown := self._add(field, text(begun)):
                yield kind(shown)

    def add(self, delta: Mapping[str, Any]) -> Iterable[Delta]:
        """Append to the block."""
        kind = text(delta.get("type"))
        if kind == "citations_delta":
            self._citations.append(delta.get("citation"))
            return
        sent, field = _FIELDS.get(kind, ("", ""))
        shown = self._add(field, text(delta.get(sent))) if field else ""
        if not shown:
            return
        if field == "text":
            yield TextDelta(shown)
        elif field == "thinking":
            yield ReasoningDelta(shown)
        elif field == "input" and is_call(self.start) and self.place is not None:
            yield CallDelta(self.place, arguments=shown)

    def whole(self) -> dict[str, Any]:
        """The block as in an answer that is not streamed."""
        block = {**self.start, **{field: joined.text for field, joined in self._pieces.items()}}
        if "input" in self._pieces:
            block["input"] = _input(block["input"])
        if self._citations:
            block["citations"] = [*(as_list(self.start.get("citations")) or []), *self._citations]
        return block

    def _add(self, field: str, piece: str) -> str:
        if field == self.start.get("type") or piece:
            return self._pieces.setdefault(field, TextPieces()).add(piece)
        return ""


class MessageStream(BodyStream):
    """Accumulates the events. Subclasses split the bytes into events."""

    HAS_TYPES = True

    def __init__(self, format_name: str) -> None:
        super().__init__()
        self._format_name = format_name
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, _Block] = {}
        self._calls = 0
        self._ids = CallIds()
        self._begun = False
        self._sound = True
        self._ended = False

    @abstractmethod
    @override
    def _frames(self, chunk: bytes) -> Iterable[str | bytes]: ...

    @property
    @override
    def finished(self) -> bool:
        return self._ended

    @override
    def _whole(self) -> bool:
        """Whether a stop reason came, with every block closed and in order. Not every server ends its stream
        with ``message_stop``."""
        closed = all(block.closed for block in self._blocks.values())
        return self._begun and self._sound and closed and bool(self._message.get("stop_reason"))

    @override
    def _reply(self) -> Reply:
        content = [self._blocks[index].whole() for index in sorted(self._blocks)]
        return parse_message({**self._message, "content": content}, self._format_name)

    @override
    def _take(self, event: dict[str, Any]) -> Iterable[Delta]:
        kind = event.get("type")
        if kind == "error":
            body = compact(event).encode(errors="replace")
            raise StreamFailed(parse_error(status_of(text(at(event, "error", "type"))), {}, body))
        if kind == "message_start":
            self._sound = self._sound and is_object(event.get("message"))
            self._begun = True
            self._message = {**(as_object(event.get("message")) or {}), **self._message}
        elif kind == "message_delta":
            return self._end_message(event)
        elif kind == "message_stop":
            self._ended = True
        elif kind in ("content_block_start", "content_block_delta", "content_block_stop"):
            return list(self._take_block(kind, event))
        return ()

    def _take_block(self, kind: str, event: Mapping[str, Any]) -> Iterable[Delta]:
        index = event.get("index")
        if not isinstance(index, int) or isinstance(index, bool):
            self._sound = False
            return ()
        block = self._blocks.get(index)
        if kind == "content_block_start":
            return self._start_block(index, event, known=block is not None)
        if block is None or block.closed:
            self._sound = False
        elif kind == "content_block_stop":
            block.closed = True
        else:
            return block.add(as_object(event.get("delta")) or {})
        return ()

    def _start_block(self, index: int, event: Mapping[str, Any], *, known: bool) -> Iterable[Delta]:
        start = as_object(event.get("content_block"))
        if known or start is None:
            self._sound = False
            return ()
        repeats = is_call(start) and self._ids.repeats(start.get("id"))
        self._blocks[index] = block = _Block(start, None if repeats else self._calls)
        self._calls += is_call(start) and not repeats
        return block.begin()

    def _end_message(self, event: Mapping[str, Any]) -> Iterable[Delta]:
        """Process the end of the message. Counts are cumulative; a refusal without text shows its
        explanation.
        """
        usage = {**(as_object(self._message.get("usage")) or {}), **_content(event.get("usage"))}
        self._message |= _content(event.get("delta"))
        if usage:
            self._message["usage"] = usage
        if at(event, "delta", "stop_reason") != "refusal" or any(map(_visible_text, self._blocks.values())):
            return ()
        why = explanation(self._message)
        return (TextDelta(why),) if why else ()


def _visible_text(block: _Block) -> str:
    return text(block.whole().get("text"))


def _content(value: Any) -> dict[str, Any]:
    return {key: each for key, each in (as_object(value) or {}).items() if each is not None}


def _input(written: str) -> Any:
    """The object in the pieces; text that is not an object is kept unchanged, to be refused as such."""
    try:
        found = as_object(load(written))
    except ValueError:
        return written
    return written if found is None else found
