"""Calls taken out of the text of a streamed answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...messages import Reply
from ...messages.deltas import CallDelta, Delta, TextDelta
from ..shared.contract import FormatError, StreamParser
from ..shared.json_values import compact, text
from ..shared.replies.parse import WireCall
from .call_scanner import CallScanner, ScannedItem
from .parse import Paragraphs, with_calls


class PromptStream:
    def __init__(self, base: StreamParser) -> None:
        self._base = base
        self._scanner = CallScanner()
        self._text = Paragraphs()
        self._count = 0

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
        return [*deltas, *self._deltas(self._scanner.close())] if self._base.finished else deltas

    def end(self) -> Reply:
        return with_calls(self._base.end())

    def _shown(self, delta: Delta) -> Iterator[Delta]:
        if isinstance(delta, TextDelta):
            yield from self._deltas(self._scanner.feed(delta.text))
        else:
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
