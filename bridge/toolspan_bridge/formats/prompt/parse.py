"""Calls taken out of the text of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...messages import Assistant, Reply
from ..shared.replies.markup import QUOTES, any_of, halves, held_from
from ..shared.replies.parse import WireCall, placed, reply
from ..shared.replies.stream import CallIds
from .call_scanner import CallScanner

WITH_WRITTEN_CALLS = "prompt:"
"""Before the name of a format: its state of a turn whose calls stand in the text, and nowhere else."""

RESULTS = ("<tool_result", "<tool_response")
"""With what results of calls begin, which only the user's messages hold."""
INVENTED = "the model wrote the results of its calls itself, which were left out"
_RESULT = any_of(RESULTS)
_RESULT_HALVES = halves(RESULTS)
_LONGEST_RESULT = max(map(len, RESULTS))


class Paragraphs:
    """Text around calls: without blanks at its ends, an empty line where a call stood."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._fresh = True
        self._any = False

    def add(self, piece: str) -> str:
        """More text; gives what to show now."""
        if self._fresh:
            piece = piece.lstrip()
        shown = piece.rstrip()
        if not shown:
            self._held.append(piece)
            return ""
        before, self._held = "".join(self._held), [piece[len(shown) :]]
        between = "\n\n" if self._fresh and self._any else ""
        self._fresh, self._any = False, True
        return between + before + shown

    def break_off(self) -> None:
        """A call stands here."""
        self._held, self._fresh = [], True


def named_apart(calls: Sequence[WireCall]) -> list[WireCall]:
    """``calls`` without ids that came before: the model made them up, so that they say nothing."""
    ids = CallIds()
    return [replace(call, id=None) if ids.repeats(call.id) else call for call in calls]


class InventedResults:
    """A text up to where the model begins to write the results of its calls itself. What follows is invented:
    no answer, and no result."""

    def __init__(self) -> None:
        self._held = ""
        self._before = ""
        self.found = False

    def before(self, piece: str) -> str:
        """More text; gives what of it is certain to come before."""
        if self.found:
            return ""
        held = self._held + piece
        place = _result_at(held, self._before)
        self.found = place >= 0
        if not self.found:
            place = held_from(held, _RESULT_HALVES, _LONGEST_RESULT)
        self._held = "" if self.found else held[place:]
        self._before = held[place - 1] if place else self._before
        return held[:place]

    def rest(self) -> str:
        """What was held back when no more comes."""
        held, self._held = self._held, ""
        return held


def before_results(text: str) -> str:
    """What of a whole text comes before results that the model wrote itself."""
    place = _result_at(text, "")
    return text if place < 0 else text[:place]


def _result_at(text: str, before: str) -> int:
    """Where a result begins that is not only spoken of; ``before`` is the character before ``text``."""
    for found in _RESULT.finditer(text):
        place = found.start()
        if (text[place - 1] if place else before) not in QUOTES:
            return place
    return -1


def with_calls(plain: Reply) -> Reply:
    """``plain`` with the calls taken out of its text. A turn that broke off makes no calls; one that holds
    nothing but words before results that the model invented is malformed.

    What the base format has to send back is kept; with calls it is marked, as their text is part of it.
    """
    said = before_results(plain.message.text)
    invented = len(said) < len(plain.message.text)
    cut = plain.incomplete or plain.stop in ("length", "context")
    scanner, around = CallScanner(), Paragraphs()
    words: list[str] = []
    calls: list[WireCall] = []
    for found in (*scanner.feed(said), *scanner.close(cut=cut)):
        if isinstance(found, WireCall):
            around.break_off()
            calls.append(found)
        else:
            words.append(around.add(found))
    if invented and not calls and not plain.incomplete:
        return replace(plain, message=Assistant(), stop="malformed", trouble=INVENTED)
    body = {"text": plain.message.text}
    base = plain.message
    read = reply(
        "".join(words),
        named_apart(calls),
        body=body,
        stop=plain.stop,
        finish=plain.finish,
        usage=plain.usage,
        opaque=None if invented else base.opaque,
        format_name=f"{WITH_WRITTEN_CALLS}{base.opaque_format}" if calls else base.opaque_format,
        citations=[placed(source, base.text, "".join(words)) for source in base.citations],
        is_split=True,
    )
    if read.message.calls:
        read = replace(read, message=replace(read.message, written=said))
    if not plain.incomplete:
        return replace(read, notes=plain.notes)
    message = replace(base, text=read.message.text, calls=())
    return replace(plain, message=message, cut_calls=read.message.calls or read.cut_calls)
