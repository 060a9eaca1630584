"""The stream of OpenAI Responses: items that grow, until each is done, until the whole answer is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from typing_extensions import override

from ...messages import Reply
from ...messages.deltas import (
    CallDelta,
    Delta,
    ReasoningDelta,
    TextDelta,
)
from ..shared.contract import FormatError, StreamFailed, StreamParser
from ..shared.framing.sse import SseReader
from ..shared.json_values import (
    MAX_NESTING,
    as_list,
    as_object,
    nesting,
    objects,
    text,
)
from ..shared.openai_errors import failed_in_stream
from ..shared.replies.stream import BodyStream, TextPieces
from .parse import parse_reply
from .parts import BETWEEN, item_text

_ENDS = ("response.completed", "response.incomplete")
_THOUGHTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_TEXTS = ("response.output_text.delta", "response.refusal.delta")
_NEXT_SUMMARY = "response.reasoning_summary_part.added"
_ARGUMENTS = "response.function_call_arguments.delta"


class _Item:
    """An output item under way. ``shown`` is what of its text or arguments has been given as deltas."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.start = start
        self.done: dict[str, Any] | None = None
        self.shown = TextPieces()
        self.refuses = False

    @property
    def kind(self) -> str:
        return text(self.start.get("type"))

    def as_item(self) -> dict[str, Any]:
        """The item as far as it is known."""
        if self.done is not None:
            return self.done
        if self.kind == "function_call":
            return {**self.start, "arguments": self.shown.text, "status": "incomplete"}
        if self.kind == "message":
            kind, key = ("refusal", "refusal") if self.refuses else ("output_text", "text")
            return {**self.start, "content": [{"type": kind, key: self.shown.text}], "status": "incomplete"}
        return self.start


def parse_stream() -> StreamParser:
    """Named server-sent events; one of completed, incomplete, failed and error ends them."""
    return _ResponsesStream()


class _ResponsesStream(BodyStream):
    def __init__(self) -> None:
        super().__init__()
        self._sse = SseReader()
        self._items: dict[int, _Item] = {}
        self._places: dict[str, int] = {}
        self._calls: dict[int, int] = {}
        self._speaking: int | None = None
        self._body: dict[str, Any] = {}
        self._ended = False

    @property
    @override
    def finished(self) -> bool:
        return self._ended

    @override
    def _frames(self, chunk: bytes) -> Iterable[str]:
        return _without_done(self._sse.feed(chunk))

    @override
    def _last_frames(self) -> Iterable[str]:
        return _without_done(self._sse.end())

    @override
    def _whole(self) -> bool:
        return self._ended

    @override
    def _reply(self) -> Reply:
        return parse_reply({**self._body, "output": self._output()})

    @override
    def _take(self, event: dict[str, Any]) -> Iterable[Delta]:
        if nesting(event) > MAX_NESTING:
            raise FormatError(f"an event of the stream is nested deeper than {MAX_NESTING} levels")
        kind = text(event.get("type"))
        if kind in _ENDS:
            self._body = as_object(event.get("response")) or {}
            self._ended = True
            return self._rest()
        if kind in ("error", "response.failed"):
            raise StreamFailed(failed_in_stream(_error(event)))
        return self._grow(kind, event)

    def _grow(self, kind: str, event: dict[str, Any]) -> Iterable[Delta]:
        """What an event adds to an item; nothing when it is of no known kind."""
        delta = text(event.get("delta"))
        if kind == "response.output_item.added":
            return self._start(event)
        if kind == "response.output_item.done":
            return self._done(event)
        if kind in _THOUGHTS:
            return [ReasoningDelta(delta)] if delta else []
        if kind == _NEXT_SUMMARY and event.get("summary_index"):
            return [ReasoningDelta(BETWEEN)]
        item = self._items.get(place) if (place := self._place(event)) is not None else None
        if item is None or place is None or item.done is not None:
            return []
        if kind in _TEXTS and item.kind == "message":
            item.refuses = kind == "response.refusal.delta"
            return self._more(place, item, delta)
        return self._more(place, item, delta) if kind == _ARGUMENTS and place in self._calls else []

    def _start(self, event: dict[str, Any]) -> Iterator[Delta]:
        item = as_object(event.get("item"))
        if item is None:
            return
        place = self._place(event)
        place = max(self._items, default=-1) + 1 if place is None else place
        if place in self._items:
            return
        yield from self._open(place, item)

    def _open(self, place: int, item: dict[str, Any]) -> Iterator[Delta]:
        started = self._items[place] = _Item(item)
        self._places[text(item.get("id"))] = place
        if started.kind == "function_call":
            self._calls[place] = len(self._calls)
            yield CallDelta(self._calls[place], text(item.get("name")))
            yield from self._more(place, started, text(item.get("arguments")))

    def _done(self, event: dict[str, Any]) -> Iterator[Delta]:
        """The item as it is in the end; what of it no delta has shown is given now."""
        yield from self._start(event)
        place, done = self._place(event), as_object(event.get("item"))
        item = self._items.get(place) if place is not None else None
        if item is None or place is None or done is None:
            return
        yield from self._finish_item(place, item, done)

    def _finish_item(self, place: int, item: _Item, done: dict[str, Any]) -> Iterator[Delta]:
        whole = text(done.get("arguments")) if item.kind == "function_call" else item_text(done)
        if whole.startswith(item.shown.text):
            yield from self._more(place, item, whole[len(item.shown.text) :])
        item.done = done

    def _rest(self) -> Iterator[Delta]:
        """What only the last event holds: some servers send no items of their own."""
        for place, item in enumerate(objects(self._body.get("output"))):
            if place not in self._items:
                yield from self._open(place, item)
            if self._items[place].done is None:
                yield from self._finish_item(place, self._items[place], item)

    def _more(self, place: int, item: _Item, piece: str) -> Iterator[Delta]:
        shown = item.shown.add(piece)
        if not shown:
            return
        if item.kind == "function_call":
            yield CallDelta(self._calls[place], arguments=shown)
        elif item.kind == "message":
            between = BETWEEN if self._speaking not in (None, place) else ""
            self._speaking = place
            yield TextDelta(between + shown)

    def _place(self, event: Mapping[str, Any]) -> int | None:
        """Where in the output the event's item stands."""
        place = event.get("output_index")
        if isinstance(place, int) and not isinstance(place, bool):
            return place
        known = text(event.get("item_id")) or text((as_object(event.get("item")) or {}).get("id"))
        return self._places.get(known) if known else None

    def _output(self) -> list[Any]:
        found = [self._items[place].as_item() for place in sorted(self._items)]
        return found or as_list(self._body.get("output")) or []


def _without_done(events: Iterable[tuple[str, str]]) -> list[str]:
    return [data for _, data in events if data.strip() != "[DONE]"]


def _error(event: Mapping[str, Any]) -> dict[str, Any]:
    """Where the two kinds of events hold it: around, in ``error``, or in the failed response."""
    response = as_object(event.get("response")) or {}
    return as_object(event.get("error")) or as_object(response.get("error")) or dict(event)
