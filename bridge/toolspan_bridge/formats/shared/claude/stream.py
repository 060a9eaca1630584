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
    load,
    text,
)
from ..replies.stream import BodyStream, CallIds, TextPieces
from .parse import (
    blocks_of,
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
    that came before has none. ``before`` is the block that had its index before: what says the same is that
    one again, so that nothing of this one is shown until it is whole."""

    def __init__(self, start: Mapping[str, Any], place: int | None, before: _Block | None = None) -> None:
        self.start = dict(start)
        self.place = place
        self.before = before
        self.closed = False
        self.held: list[Delta] = []
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
        self._blocks: list[_Block] = []
        self._at: dict[int, _Block] = {}
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
        with ``message_stop``, nor each text where it does."""
        if not (self._begun and self._sound and self._message.get("stop_reason")):
            return False
        open_ = [block for block in self._blocks if not block.closed]
        return not open_ or (self._ended and not any(each.before or is_call(each.start) for each in open_))

    @override
    def _reply(self) -> Reply:
        places = {id(block): index for index, block in self._at.items()}
        blocks = [block for block in self._blocks if block.before is None or block.closed]
        if all(id(block) in places for block in blocks):
            blocks.sort(key=lambda block: places[id(block)])
        content = [block.whole() for block in blocks]
        return parse_message({**self._message, "content": content}, self._format_name)

    @override
    def _take(self, event: dict[str, Any]) -> Iterable[Delta]:
        kind = event.get("type")
        if kind == "error":
            body = compact(event).encode(errors="replace")
            raise StreamFailed(parse_error(status_of(text(at(event, "error", "type"))), {}, body))
        if kind in ("message_start", "message"):
            return self._start_message(event.get("message") if kind == "message_start" else event)
        if kind == "message_delta":
            return self._end_message(event)
        if kind == "message_stop":
            self._ended = True
        elif kind in ("content_block_start", "content_block_delta", "content_block_stop"):
            return list(self._take_block(kind, event))
        return ()

    def _start_message(self, given: Any) -> Iterable[Delta]:
        """Begin the message; of one that comes whole, all of its content."""
        message = as_object(given)
        self._sound = self._sound and message is not None
        began, self._begun = self._begun, True
        self._message = {**(message or {}), **self._message}
        deltas: list[Delta] = []
        for block in [] if began or self._blocks else blocks_of((message or {}).get("content")) or []:
            deltas += self._start_block(len(self._blocks), block)
            self._blocks[-1].closed = True
        return deltas

    def _take_block(self, kind: str, event: Mapping[str, Any]) -> Iterable[Delta]:
        index = event.get("index")
        if not isinstance(index, int) or isinstance(index, bool):
            self._sound = False
            return ()
        block = self._at.get(index)
        if kind == "content_block_start":
            return self._start_block(index, event.get("content_block"))
        delta = as_object(event.get("delta")) or {}
        if block is None and kind == "content_block_delta" and delta.get("type") == "text_delta":
            self._start_block(index, {"type": "text"})
            block = self._at[index]
        if block is None or block.closed:
            self._sound = False
        elif kind == "content_block_stop":
            block.closed = True
            return self._close(block)
        elif block.before is None:
            return block.add(delta)
        else:
            block.held += block.add(delta)
        return ()

    def _close(self, block: _Block) -> Iterable[Delta]:
        """What was held of a block at an index that was there before; it goes where it is the same again."""
        if block.before is not None and block.whole() == block.before.whole():
            self._blocks.remove(block)
            return ()
        return block.held

    def _start_block(self, index: int, given: Any) -> Iterable[Delta]:
        start, known = as_object(given), self._at.get(index)
        if start is None or (known is not None and not known.closed):
            self._sound = False
            return ()
        repeats = is_call(start) and self._ids.repeats(start.get("id"))
        block = _Block(start, None if repeats else self._calls, known)
        self._at[index] = block
        self._blocks.append(block)
        self._calls += is_call(start) and not repeats
        begun = list(block.begin())
        if known is None:
            return begun
        block.held += begun
        return ()

    def _end_message(self, event: Mapping[str, Any]) -> Iterable[Delta]:
        """Process the end of the message. Counts are cumulative; a refusal without text shows its
        explanation.
        """
        usage = {**(as_object(self._message.get("usage")) or {}), **_content(event.get("usage"))}
        self._message |= _content(event.get("delta"))
        if usage:
            self._message["usage"] = usage
        if at(event, "delta", "stop_reason") != "refusal" or any(map(_visible_text, self._blocks)):
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
