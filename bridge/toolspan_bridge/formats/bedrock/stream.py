"""ConverseStream: events that gather, block by block, into the answer that Converse would have given.

Source: botocore 1.44.5, ``ConverseStreamOutput``. A text begins with its first delta; other blocks are begun.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from typing_extensions import override

from ...messages import Reply
from ...messages.deltas import (
    CallDelta,
    Delta,
    ReasoningDelta,
    TextDelta,
)
from ..shared.bedrock_errors import frame_error
from ..shared.contract import StreamParser
from ..shared.framing.event_stream import FrameReader
from ..shared.json_values import (
    as_list,
    as_object,
    at,
    load,
    text,
)
from ..shared.replies.stream import BodyStream, CallIds, TextPieces
from .parse import parse_reply


class _Block:
    """One content block under way. ``place`` is its call's place among those that are shown; a call that came
    before has none."""

    def __init__(self, start: Mapping[str, Any], place: int | None) -> None:
        self.place = place
        self.closed = False
        self._start = dict(start)
        self._pieces: dict[str, TextPieces] = {}
        self._results: list[Any] = []
        self._citations: list[Any] = []
        self._redacted: list[str] = []

    @property
    def use(self) -> dict[str, Any] | None:
        """The call that it is, if it is ours to carry out."""
        found = as_object(self._start.get("toolUse"))
        return None if found is None or found.get("type") == "server_tool_use" else found

    def begin(self) -> Iterable[Delta]:
        """What the block's start shows already."""
        if (use := self.use) is not None and self.place is not None:
            yield CallDelta(self.place, text(use.get("name")))

    def add(self, delta: Mapping[str, Any]) -> Iterable[Delta]:
        """More of the block."""
        if shown := self._more("text", delta.get("text")):
            yield TextDelta(shown)
        if shown := self._more("thought", at(delta, "reasoningContent", "text")):
            yield ReasoningDelta(shown)
        self._more("signature", at(delta, "reasoningContent", "signature"))
        if redacted := text(at(delta, "reasoningContent", "redactedContent")):
            self._redacted.append(redacted)
        shown = self._more("input", at(delta, "toolUse", "input"))
        if shown and self.use is not None and self.place is not None:
            yield CallDelta(self.place, arguments=shown)
        self._results += as_list(delta.get("toolResult")) or []
        self._citations += [delta["citation"]] if "citation" in delta else []
        if image := as_object(delta.get("image")):
            self._start["image"] = {**(as_object(self._start.get("image")) or {}), **image}

    def whole(self) -> dict[str, Any]:
        """The block as it would stand in Converse's answer."""
        for kind, finish in (("toolUse", self._input), ("toolResult", self._content)):
            if (begun := as_object(self._start.get(kind))) is not None:
                return {kind: {**begun, **finish()}}
        if self._redacted:
            return {"reasoningContent": {"redactedContent": _one_base64(self._redacted)}}
        if "thought" in self._pieces or "signature" in self._pieces:
            signed = {"signature": self._joined("signature")} if "signature" in self._pieces else {}
            return {"reasoningContent": {"reasoningText": {"text": self._joined("thought"), **signed}}}
        if "text" not in self._pieces and self._start:
            return self._start
        shown = {"text": self._joined("text")}
        cited = {"content": [shown], "citations": self._citations}
        return {"citationsContent": cited} if self._citations else shown

    def _more(self, field: str, piece: Any) -> str:
        if not isinstance(piece, str):
            return ""
        return self._pieces.setdefault(field, TextPieces()).add(piece)

    def _joined(self, field: str) -> str:
        return self._pieces[field].text if field in self._pieces else ""

    def _input(self) -> dict[str, Any]:
        """The object that the pieces spell; what spells none is kept as it came, to be refused as such."""
        written = self._joined("input")
        try:
            found = as_object(load(written)) if written.strip() else {}
        except ValueError:
            found = None
        return {"input": written if found is None else found}

    def _content(self) -> dict[str, Any]:
        return {"content": self._results}


def parse_stream() -> StreamParser:
    """ConverseStream's binary frames, from ``messageStart`` to ``metadata``."""
    return _ConverseStream()


class _ConverseStream(BodyStream):
    """``messageStop`` ends the answer; ``metadata``, with the usage, follows it and ends the stream."""

    def __init__(self) -> None:
        super().__init__()
        self._reader = FrameReader()
        self._blocks: dict[int, _Block] = {}
        self._calls = 0
        self._ids = CallIds()
        self._sound = True
        self._stop: dict[str, Any] = {}
        self._metadata: dict[str, Any] | None = None

    @property
    @override
    def finished(self) -> bool:
        return bool(self._stop) and self._metadata is not None

    @override
    def _frames(self, chunk: bytes) -> Iterable[str | bytes]:
        for frame in self._reader.feed(chunk):
            if self.finished:
                return
            if (failed := frame_error(frame)) is not None:
                raise failed
            kind = frame.header(":event-type")
            if kind.isalnum():
                yield b'{"%s":%s}' % (kind.encode(), frame.payload or b"{}")

    @override
    def _last_frames(self) -> Iterable[str | bytes]:
        return ()

    @override
    def _whole(self) -> bool:
        closed = all(block.closed for block in self._blocks.values())
        return self._sound and closed and bool(self._stop.get("stopReason"))

    @override
    def _reply(self) -> Reply:
        content = [self._blocks[index].whole() for index in sorted(self._blocks)]
        message = {"role": "assistant", "content": content}
        return parse_reply({**self._stop, **(self._metadata or {}), "output": {"message": message}})

    @override
    def _take(self, event: dict[str, Any]) -> Iterable[Delta]:
        kind, given = next(iter(event.items()))
        content = as_object(given) or {}
        if kind == "messageStop":
            self._stop = dict(content)
        elif kind == "metadata":
            self._metadata = {name: content.get(name) for name in ("serviceTier", "usage")}
        elif kind.startswith("contentBlock"):
            return list(self._take_block(kind, content))
        return ()

    def _take_block(self, kind: str, event: Mapping[str, Any]) -> Iterable[Delta]:
        index = event.get("contentBlockIndex")
        if not isinstance(index, int) or isinstance(index, bool):
            self._sound = False
            return ()
        block = self._blocks.get(index)
        if kind == "contentBlockStart":
            self._sound = self._sound and block is None
            return self._begin(index, as_object(event.get("start")) or {}) if block is None else ()
        delta = as_object(event.get("delta")) or {}
        if block is None and kind == "contentBlockDelta":
            self._sound = self._sound and "toolUse" not in delta
            self._blocks[index] = block = _Block({}, self._calls)
        if block is None or block.closed:
            self._sound = False
        elif kind == "contentBlockStop":
            block.closed = True
        elif kind == "contentBlockDelta":
            return block.add(delta)
        return ()

    def _begin(self, index: int, start: Mapping[str, Any]) -> Iterable[Delta]:
        self._blocks[index] = block = _Block(start, self._calls)
        if block.use is not None and self._ids.repeats(block.use.get("toolUseId")):
            block.place = None
        self._calls += block.use is not None and block.place is not None
        return block.begin()


def _one_base64(pieces: list[str]) -> str:
    """The base64 of all bytes together; the pieces side by side where one of them is no base64."""
    try:
        return base64.b64encode(b"".join(base64.b64decode(piece, validate=True) for piece in pieces)).decode()
    except ValueError:
        return "".join(pieces)
