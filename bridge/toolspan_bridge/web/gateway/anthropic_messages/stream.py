"""A message of Anthropic's API as it comes: its start, each block with its deltas, how it stopped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..faults import RequestFault
from ..frames import RETRACTED, comment, frame
from ..pieces import Finished, Piece, Retracted, TextPiece, ThoughtPiece, Warned
from ..replies import Begun
from .render import SIGNATURE, STOPS, call_json, message_id, render_error, render_usage

__all__ = ["MessageStream"]

_TEXT = {"type": "text", "text": ""}
_THINKING = {"type": "thinking", "thinking": "", "signature": ""}


class MessageStream:
    """Writes the events of one answer."""

    ping = frame({"type": "ping"}, "ping")

    def __init__(self, begun: Begun) -> None:
        self._begun = begun
        self._index = -1
        self._open: tuple[str, int] | None = None

    def begin(self) -> Iterator[bytes]:
        """The start of the message, still empty."""
        begun = self._begun
        message: dict[str, Any] = {
            "id": message_id(begun),
            "type": "message",
            "role": "assistant",
            "model": begun.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        yield _event("message_start", message=message)
        yield self.ping

    def piece(self, piece: Piece) -> Iterator[bytes]:
        """The events of ``piece``."""
        match piece:
            case TextPiece(text=text, turn=turn):
                yield from self._block(("text", turn), _TEXT)
                yield self._delta(type="text_delta", text=text)
            case ThoughtPiece(text=text, turn=turn):
                yield from self._block(("thinking", turn), _THINKING)
                yield self._delta(type="thinking_delta", thinking=text)
            case Retracted():
                yield comment(RETRACTED)
            case Warned(text=text):
                yield comment(f"warning: {text}")
            case Finished():
                yield from self._end(piece)

    def failed(self, fault: RequestFault) -> Iterator[bytes]:
        """The end of an answer that breaks off."""
        yield frame(render_error(fault), "error")

    def _end(self, finished: Finished) -> Iterator[bytes]:
        for number, call in enumerate(finished.calls):
            block = call_json(self._begun, number, call)
            yield from self._block((block["id"], number), {**block, "input": {}})
            yield self._delta(type="input_json_delta", partial_json=call.raw)
        yield from self._close()
        delta = {"stop_reason": STOPS[finished.finish], "stop_sequence": finished.stop_text or None}
        yield _event("message_delta", delta=delta, usage=render_usage(finished.usage))
        yield _event("message_stop")

    def _block(self, key: tuple[str, int], block: dict[str, Any]) -> Iterator[bytes]:
        """Begin ``block``, unless it is the one that is open."""
        if self._open == key:
            return
        yield from self._close()
        self._open = key
        self._index += 1
        yield _event("content_block_start", index=self._index, content_block=block)

    def _close(self) -> Iterator[bytes]:
        if self._open is None:
            return
        if self._open[0] == "thinking":
            yield self._delta(type="signature_delta", signature=SIGNATURE)
        self._open = None
        yield _event("content_block_stop", index=self._index)

    def _delta(self, **delta: str) -> bytes:
        return _event("content_block_delta", index=self._index, delta=delta)


def _event(kind: str, **members: Any) -> bytes:
    return frame({"type": kind, **members}, kind)
