"""Who prints what happens during a question: for people at a terminal, or plainly for pipes and files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ...conversation import Conversation
from ...events import Answer
from ...messages import Citation
from ...sessions.costs import CostMeter
from .screen.folded import Folded
from .talk import Printer, Shows

if TYPE_CHECKING:
    from .media.view import Keep

__all__ = ["AnswerPrinter", "printer_for"]


class AnswerPrinter(Shows, Protocol):
    """Prints the events of a question, its answer, and what it took."""

    def answer(self, content: str, citations: Sequence[Citation] = ()) -> None:
        """The answer, unless it was shown as it came, and its sources."""

    def figures(self, answer: Answer, meter: CostMeter, talk: Conversation | None = None) -> None:
        """What the answer took, and in a chat what the conversation ``talk`` cost so far."""


def printer_for(*, stream: bool, quiet: bool, folded: Folded, keep: Keep | None = None) -> AnswerPrinter:
    """The printer for where stdout and stderr lead. ``stream``: the answer is shown as it comes. ``folded``
    keeps what is shown in short, and ``keep`` the files that a terminal cannot show."""
    if not quiet and sys.stdout.isatty() and sys.stderr.isatty():
        from .screen.printer import ScreenPrinter

        return ScreenPrinter(sys.stdout, folded, keep)
    return Printer(sys.stderr, quiet=quiet, live=sys.stdout if stream else None)
