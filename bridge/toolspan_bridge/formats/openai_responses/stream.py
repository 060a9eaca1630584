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
    at,
    nesting,
    objects,
    text,
)
from ..shared.openai_errors import failed_in_stream
from ..shared.replies.stream import BodyStream, data_of
from .items import OutputItem, OutputItems
from .parse import parse_reply
from .parts import BETWEEN

_ENDS = ("response.completed", "response.done", "response.incomplete")
_THOUGHTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_TEXTS = ("response.output_text.delta", "response.refusal.delta")
_NEXT_SUMMARY = "response.reasoning_summary_part.added"
_ARGUMENTS = "response.function_call_arguments.delta"
_WHOLE = {
    "response.function_call_arguments.done": ("arguments",),
    "response.output_text.done": ("text",),
    "response.refusal.done": ("refusal",),
    "response.content_part.done": ("part", "text"),
}
"""Where events have the whole of what deltas gave, or should have given."""


def parse_stream() -> StreamParser:
    """Named server-sent events; one of completed, incomplete, failed and error ends them."""
    return _ResponsesStream()


class _ResponsesStream(BodyStream):
    HAS_TYPES = True

    def __init__(self) -> None:
        super().__init__()
        self._sse = SseReader()
        self._items = OutputItems()
        self._final: list[OutputItem] = []
        self._speaking: OutputItem | None = None
        self._of_nothing: list[str] = []
        """Text of items that were never begun: it is the answer where there is no other."""
        self._body: dict[str, Any] = {}
        self._ended = False

    @property
    @override
    def finished(self) -> bool:
        return self._ended

    @override
    def _frames(self, chunk: bytes) -> Iterable[str]:
        return data_of(self._sse.feed(chunk))

    @override
    def _last_frames(self) -> Iterable[str]:
        return data_of(self._sse.end())

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
        if kind in _ENDS or (not kind and event.get("object") == "response"):
            return self._end(as_object(event.get("response")) or event)
        if kind in ("error", "response.failed"):
            raise StreamFailed(failed_in_stream(_error(event)))
        return self._grow(kind, event)

    def _end(self, response: dict[str, Any]) -> Iterable[Delta]:
        """The whole answer, or that there is none."""
        if response.get("status") == "failed":
            raise StreamFailed(failed_in_stream(_error({"response": response})))
        self._body = {key: value for key, value in response.items() if key != "type"}
        self._ended = True
        if response.get("status") in (None, "completed"):
            self._items.let_open()
        deltas = list(self._rest())
        if self._speaking is None and (said := "".join(self._of_nothing)):
            begun = self._items.begin({"type": "message", "role": "assistant"}, None)
            deltas += self._more(begun, said)
        return deltas

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
        item = self._items.of_event(text(event.get("item_id")), _place(event))
        if item is None and kind in _TEXTS:
            self._of_nothing.append(delta)
        if item is None or item.done is not None:
            return []
        if kind in _WHOLE:
            return self._whole_of(item, text(at(event, *_WHOLE[kind])), _part(event))
        if kind in _TEXTS and item.kind == "message":
            item.refuses = kind == "response.refusal.delta"
            item.parts.add(_part(event))
            return self._more(item, delta)
        return self._more(item, delta) if kind == _ARGUMENTS and item.call is not None else []

    def _whole_of(self, item: OutputItem, whole: str, part: int) -> Iterable[Delta]:
        """What no delta has shown of an item's arguments, or of a part of a message."""
        if item.call is not None:
            return self._more(item, item.beyond(whole))
        if item.kind != "message" or part in item.parts:
            return []
        item.parts.add(part)
        return self._more(item, whole)

    def _start(self, event: dict[str, Any]) -> Iterator[Delta]:
        item = as_object(event.get("item"))
        if item is None or self._known(event, item) is not None:
            return
        yield from self._begin(item, _place(event))

    def _known(self, event: Mapping[str, Any], item: dict[str, Any]) -> OutputItem | None:
        """The item that an event begins again."""
        is_named = bool(text(item.get("call_id")) or text(item.get("id")))
        return self._items.known(item) or (None if is_named else self._items.at(_place(event), item))

    def _begin(self, item: dict[str, Any], place: int | None) -> Iterator[Delta]:
        begun = self._items.begin(item, place)
        if begun.call is not None:
            yield CallDelta(begun.call, text(item.get("name")))
            yield from self._more(begun, text(item.get("arguments")))

    def _done(self, event: dict[str, Any]) -> Iterator[Delta]:
        """The item as it is in the end; what of it no delta has shown is given now."""
        item = as_object(event.get("item"))
        if item is None:
            return
        known = self._items.known(item) or self._items.at(_place(event), item)
        if known is not None and self._items.is_another(known, item, _place(event)):
            known = None
        yield from self._finish_item(known, item, _place(event))

    def _finish_item(
        self, known: OutputItem | None, item: dict[str, Any], place: int | None = None
    ) -> Iterator[Delta]:
        if known is None:
            yield from self._begin(item, place)
            known = self._items.last
        if known.done is None:
            yield from self._more(known, known.rest(item))
        self._items.finish(known, item)

    def _rest(self) -> Iterator[Delta]:
        """What only the last event holds: some servers send no items of their own."""
        final = objects(self._body.get("output"))
        for item, known in zip(final, self._items.matched(final), strict=True):
            yield from self._finish_item(known, item)
            self._final.append(known or self._items.last)

    def _more(self, item: OutputItem, piece: str) -> Iterator[Delta]:
        shown = item.shown.add(piece)
        if not shown:
            return
        if item.call is not None:
            yield CallDelta(item.call, arguments=shown)
        elif item.kind == "message" and item.start.get("role") in (None, "assistant"):
            between = BETWEEN if self._speaking not in (None, item) else ""
            self._speaking = item
            yield TextDelta(between + shown)

    def _output(self) -> list[Any]:
        return self._items.output(self._final) or as_list(self._body.get("output")) or []


def _place(event: Mapping[str, Any]) -> int | None:
    """Where in the output the event's item stands, as the server numbers it."""
    place = event.get("output_index")
    return place if isinstance(place, int) and not isinstance(place, bool) else None


def _part(event: Mapping[str, Any]) -> int:
    """Which part of its message the event is about."""
    part = event.get("content_index")
    return part if isinstance(part, int) else 0


def _error(event: Mapping[str, Any]) -> dict[str, Any]:
    """Where the two kinds of events hold it: around, in ``error``, or in the failed response."""
    response = as_object(event.get("response")) or {}
    return as_object(event.get("error")) or as_object(response.get("error")) or dict(event)
