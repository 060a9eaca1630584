"""A Chat Completions answer as it comes: role, text, calls, how it ended, usage, ``[DONE]``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..faults import RequestFault
from ..frames import RETRACTED, comment, frame
from ..pieces import Finished, Piece, Retracted, TextPiece, ThoughtPiece, Warned
from ..replies import Begun
from .render import FINISHES, call_json, render_error, render_usage

__all__ = ["ChatStream"]

_DONE = b"data: [DONE]\n\n"


class ChatStream:
    """Writes the chunks of one answer."""

    ping = comment("keep-alive")

    def __init__(self, begun: Begun) -> None:
        self._begun = begun
        self._turn: int | None = None

    def begin(self) -> Iterator[bytes]:
        """The first chunk, with the role."""
        yield self._chunk({"role": "assistant", "content": "", "refusal": None})

    def piece(self, piece: Piece) -> Iterator[bytes]:
        """The chunks of ``piece``."""
        match piece:
            case TextPiece(text=text, turn=turn):
                between = "\n\n" if self._turn not in (None, turn) else ""
                self._turn = turn
                yield self._chunk({"refusal" if piece.unfit else "content": between + text})
            case ThoughtPiece(text=text):
                yield self._chunk({"reasoning_content": text})
            case Retracted():
                yield comment(RETRACTED)
            case Warned(text=text):
                yield comment(f"warning: {text}")
            case Finished():
                yield from self._end(piece)

    def failed(self, fault: RequestFault) -> Iterator[bytes]:
        """The end of an answer that breaks off, with the ``status`` that it would have had as an answer."""
        error = render_error(fault)["error"]
        yield frame({"error": {**error, "status": fault.status}})

    def _end(self, finished: Finished) -> Iterator[bytes]:
        for number, call in enumerate(finished.calls):
            whole = call_json(self._begun, number, call)
            kind = whole["type"]
            part = "arguments" if kind == "function" else "input"
            head = {"index": number, **whole, kind: {**whole[kind], part: ""}}
            yield self._chunk({"tool_calls": [head]})
            yield self._chunk({"tool_calls": [{"index": number, kind: {part: whole[kind][part]}}]})
        yield self._chunk({}, FINISHES[finished.finish])
        if self._begun.asked.include_usage:
            yield frame({**self._head(), "choices": [], "usage": render_usage(finished.usage)})
        yield _DONE

    def _head(self) -> dict[str, Any]:
        begun = self._begun
        return {
            "id": f"chatcmpl-{begun.id}",
            "object": "chat.completion.chunk",
            "created": begun.created,
            "model": begun.model,
        }

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        usage = {"usage": None} if self._begun.asked.include_usage else {}
        return frame({**self._head(), "choices": [choice], **usage})
