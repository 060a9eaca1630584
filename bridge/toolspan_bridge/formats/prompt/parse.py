"""Calls taken out of the text of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...messages import Citation, Reply
from ..shared.replies.parse import WireCall, reply
from ..shared.replies.stream import CallIds
from .call_scanner import CallScanner

WITH_WRITTEN_CALLS = "prompt:"
"""Before the name of a format: its state of a turn whose calls stand in the text, and nowhere else."""


class Paragraphs:
    """Text around calls: without blanks at its ends, an empty line where a call stood."""

    def __init__(self) -> None:
        self._held = ""
        self._fresh = True
        self._any = False

    def add(self, piece: str) -> str:
        """More text; gives what to show now."""
        piece = self._held + piece
        if self._fresh:
            piece = piece.lstrip()
        shown = piece.rstrip()
        self._held = piece[len(shown) :]
        if not shown:
            return ""
        between = "\n\n" if self._fresh and self._any else ""
        self._fresh, self._any = False, True
        return between + shown

    def break_off(self) -> None:
        """A call stands here."""
        self._held, self._fresh = "", True


def named_apart(calls: Sequence[WireCall]) -> list[WireCall]:
    """``calls`` without ids that came before: the model made them up, so that they say nothing."""
    ids = CallIds()
    return [replace(call, id=None) if ids.repeats(call.id) else call for call in calls]


def with_calls(plain: Reply) -> Reply:
    """``plain`` with the calls taken out of its text. A turn that broke off makes no calls.

    What the base format has to send back is kept; with calls it is marked, as their text is part of it.
    """
    cut = plain.incomplete or plain.stop == "length"
    scanner, around = CallScanner(), Paragraphs()
    words: list[str] = []
    calls: list[WireCall] = []
    for found in (*scanner.feed(plain.message.text), *scanner.close(cut=cut)):
        if isinstance(found, WireCall):
            around.break_off()
            calls.append(found)
        else:
            words.append(around.add(found))
    body = {"text": plain.message.text}
    said = plain.message
    read = reply(
        "".join(words),
        named_apart(calls),
        body=body,
        stop=plain.stop,
        finish=plain.finish,
        usage=plain.usage,
        opaque=said.opaque,
        format_name=f"{WITH_WRITTEN_CALLS}{said.opaque_format}" if calls else said.opaque_format,
        citations=[_placed(source, said.text, "".join(words)) for source in said.citations],
    )
    if not plain.incomplete:
        return replace(read, notes=plain.notes)
    message = replace(said, text=read.message.text, calls=())
    return replace(plain, message=message, cut_calls=read.message.calls or read.cut_calls)


def _placed(source: Citation, before: str, after: str) -> Citation:
    """``source`` of the text ``before``, in the text ``after``, which lacks parts of it."""
    start = -1 if source.start is None else after.find(before[source.start : source.end])
    if start < 0 or source.start is None or source.end is None:
        return replace(source, start=None, end=None)
    return replace(source, start=start, end=start + source.end - source.start)
