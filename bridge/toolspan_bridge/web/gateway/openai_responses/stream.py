"""A response as it comes: created, each item with its parts and deltas, completed, all numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from toolspan_server.common.gathered_text import GatheredText

from ....messages import ToolCall
from ..faults import RequestFault
from ..frames import RETRACTED, comment, frame
from ..pieces import Finished, Piece, Retracted, TextPiece, ThoughtPiece, Warned
from ..replies import Begun
from .render import (
    call_item,
    call_status,
    message_item,
    named,
    reasoning_item,
    refusal_part,
    render_failure,
    render_response,
    text_part,
)

__all__ = ["ResponseStream"]

_CALL_EVENTS = {
    "function_call": ("function_call_arguments", "arguments"),
    "custom_tool_call": ("custom_tool_call_input", "input"),
}


class ResponseStream:
    """Writes the events of one answer."""

    ping = comment("keep-alive")

    def __init__(self, begun: Begun) -> None:
        self._begun = begun
        self._number = -1
        self._output: list[dict[str, Any]] = []
        self._open: tuple[type[Piece], int] | None = None
        self._close: Callable[[], Iterator[bytes]] = lambda: iter(())
        self._text = GatheredText()
        self._turns: dict[int, int] = {}

    def begin(self) -> Iterator[bytes]:
        """The response, still empty."""
        yield self._event("response.created", response=render_response(self._begun, []))
        yield self._event("response.in_progress", response=render_response(self._begun, []))

    def piece(self, piece: Piece) -> Iterator[bytes]:
        """The events of ``piece``."""
        match piece:
            case TextPiece():
                yield from self._unfit(piece) if piece.unfit else self._said(piece)
            case ThoughtPiece():
                yield from self._thought(piece)
            case Retracted():
                yield from self._retracted()
            case Warned(text=text):
                yield comment(f"warning: {text}")
            case Finished():
                yield from self._close()
                for number, call in enumerate(piece.calls):
                    yield from self._call(number, call, call_status(piece, number))
                whole = render_response(self._begun, self._output, piece)
                yield self._event(f"response.{whole['status']}", response=whole)

    def failed(self, fault: RequestFault) -> Iterator[bytes]:
        """The end of an answer that breaks off."""
        whole = render_failure(self._begun, self._output, fault)
        yield self._event("response.failed", response=whole)

    def _said(self, piece: TextPiece) -> Iterator[bytes]:
        place = self._turns.setdefault(piece.turn, len(self._turns))
        if self._open != (TextPiece, piece.turn):
            yield from self._close()
            item = message_item(self._begun, place, [], "in_progress")
            yield from self._begin_item((TextPiece, piece.turn), item, self._end_message)
            yield self._event("response.content_part.added", **self._at_part(), part=text_part(""))
        self._text.add(piece.text)
        yield self._event("response.output_text.delta", **self._at_part(), delta=piece.text, logprobs=[])

    def _unfit(self, piece: TextPiece) -> Iterator[bytes]:
        yield from self._close()
        place = self._turns.setdefault(piece.turn, len(self._turns))
        item = message_item(self._begun, place, [], "in_progress")
        part = refusal_part(piece.text)
        yield from self._begin_item((TextPiece, piece.turn), item, lambda: iter(()))
        yield self._event("response.content_part.added", **self._at_part(), part=refusal_part(""))
        yield self._event("response.refusal.delta", **self._at_part(), delta=piece.text)
        yield self._event("response.refusal.done", **self._at_part(), refusal=piece.text)
        yield self._event("response.content_part.done", **self._at_part(), part=part)
        yield self._end_item({**item, "status": "completed", "content": [part]})

    def _retracted(self) -> Iterator[bytes]:
        """The message that is open is no part of the answer: of all states that one has, it is incomplete."""
        if self._open is not None and self._open[0] is TextPiece:
            yield from self._end_message("incomplete")
        yield comment(RETRACTED)

    def _end_message(self, status: str = "completed") -> Iterator[bytes]:
        part = text_part(self._text.text)
        yield self._event("response.output_text.done", **self._at_part(), text=self._text.text, logprobs=[])
        yield self._event("response.content_part.done", **self._at_part(), part=part)
        yield self._end_item({**self._output[-1], "status": status, "content": [part]})

    def _thought(self, piece: ThoughtPiece) -> Iterator[bytes]:
        place = self._turns.setdefault(piece.turn, len(self._turns))
        if self._open != (ThoughtPiece, piece.turn):
            yield from self._close()
            item = reasoning_item(self._begun, place, [])
            yield from self._begin_item((ThoughtPiece, piece.turn), item, self._end_thoughts)
            part = {"type": "summary_text", "text": ""}
            yield self._event("response.reasoning_summary_part.added", **self._at_summary(), part=part)
        self._text.add(piece.text)
        yield self._event("response.reasoning_summary_text.delta", **self._at_summary(), delta=piece.text)

    def _end_thoughts(self) -> Iterator[bytes]:
        part = {"type": "summary_text", "text": self._text.text}
        yield self._event("response.reasoning_summary_text.done", **self._at_summary(), text=self._text.text)
        yield self._event("response.reasoning_summary_part.done", **self._at_summary(), part=part)
        yield self._end_item({**self._output[-1], "summary": [part]})

    def _call(self, number: int, call: ToolCall, status: str) -> Iterator[bytes]:
        item = call_item(self._begun, number, call, "", "in_progress")
        whole = call_item(self._begun, number, call, call.raw, status)
        yield from self._begin_item((Finished, number), item, lambda: iter(()))
        kind, part = _CALL_EVENTS[whole["type"]]
        yield self._event(f"response.{kind}.delta", **self._at(), delta=whole[part])
        name = {"name": named(self._begun, call)["name"]} if part == "arguments" else {}
        yield self._event(f"response.{kind}.done", **self._at(), **name, **{part: whole[part]})
        yield self._end_item(whole)

    def _begin_item(
        self, opened: tuple[type[Piece], int], item: dict[str, Any], close: Callable[[], Iterator[bytes]]
    ) -> Iterator[bytes]:
        self._open, self._close, self._text = opened, close, GatheredText()
        self._output.append(item)
        yield self._event("response.output_item.added", output_index=len(self._output) - 1, item=item)

    def _end_item(self, item: dict[str, Any]) -> bytes:
        self._open, self._close = None, lambda: iter(())
        self._output[-1] = item
        return self._event("response.output_item.done", output_index=len(self._output) - 1, item=item)

    def _at(self) -> dict[str, Any]:
        return {"item_id": self._output[-1]["id"], "output_index": len(self._output) - 1}

    def _at_part(self) -> dict[str, Any]:
        return {**self._at(), "content_index": 0}

    def _at_summary(self) -> dict[str, Any]:
        return {**self._at(), "summary_index": 0}

    def _event(self, kind: str, **members: Any) -> bytes:
        self._number += 1
        return frame({"type": kind, "sequence_number": self._number, **members}, kind)
