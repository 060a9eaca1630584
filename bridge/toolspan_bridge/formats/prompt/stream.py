"""Calls taken out of the text of a streamed answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...messages import Reply
from ...messages.deltas import CallDelta, Delta, ReasoningDelta, TextDelta
from ..shared.contract import FormatError, StreamParser
from ..shared.json_values import compact, text
from ..shared.replies.parse import WireCall
from .call_scanner import CallScanner, ScannedItem
from .parse import InventedResults, Paragraphs, with_calls


class PromptStream:
    """The stream ``base``, the calls taken out of its text."""

    def __init__(self, base: StreamParser) -> None:
        self._base = base
        self._count = 0
        self._begin()

    def _begin(self) -> None:
        self._invented = InventedResults()
        self._scanner = CallScanner()
        self._text = Paragraphs()

    @property
    def finished(self) -> bool:
        return self._base.finished

    def feed(self, chunk: bytes) -> list[Delta]:
        if self._base.finished:
            return []
        try:
            deltas = [shown for delta in self._base.feed(chunk) for shown in self._shown(delta)]
        except FormatError as fault:
            fault.before = [shown for delta in fault.before for shown in self._shown(delta)]
            raise
        return [*deltas, *self._last()] if self._base.finished else deltas

    def end(self) -> Reply:
        return with_calls(self._base.end())

    def _last(self) -> Iterator[Delta]:
        yield from self._deltas([*self._scanner.feed(self._invented.rest()), *self._scanner.close()])

    def _shown(self, delta: Delta) -> Iterator[Delta]:
        if isinstance(delta, TextDelta):
            yield from self._deltas(self._scanner.feed(self._invented.before(delta.text)))
            return
        if isinstance(delta, ReasoningDelta) and delta.was_text:
            self._begin()
        yield delta

    def _deltas(self, parts: Iterable[ScannedItem]) -> Iterator[Delta]:
        for found in parts:
            if isinstance(found, WireCall):
                self._text.break_off()
                arguments = found.arguments
                written = arguments if isinstance(arguments, str) else compact(arguments)
                yield CallDelta(self._count, text(found.name), written)
                self._count += 1
            elif shown := self._text.add(found):
                yield TextDelta(shown)
