"""What ``ask`` prints of a question while it is answered, and of its answer."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..inputs.output_choice import Output
from ..terminal.output import emit_json, print_problem, without_notes

if TYPE_CHECKING:
    from ...events import Answer
    from ...sessions.costs import CostMeter
    from ...sessions.kept.saved_conversation import SavedConversation
    from ..event_lines import JsonLines
    from ..terminal.media.view import Keep
    from ..terminal.printing import AnswerPrinter
    from ..terminal.talk import Shows


class Report:
    """Prints in the way of ``output``; ``stream``: text is shown as it comes, where there are people;
    ``verbose``: nothing is shown in short."""

    def __init__(self, output: Output, *, stream: bool, verbose: bool = False) -> None:
        self._output = output
        self._lines = _lines() if output == "jsonl" else None
        self._stream, self._verbose = stream, verbose
        self.keep: Keep | None = None
        """What keeps the files of results that a terminal cannot show."""

    @cached_property
    def _printer(self) -> AnswerPrinter:
        from ..terminal.printing import printer_for
        from ..terminal.screen.folded import Folded

        live = self._stream and self._output in ("text", "quiet")
        folded = Folded(whole=self._verbose)
        return printer_for(stream=live, quiet=self._output != "text", folded=folded, keep=self.keep)

    @property
    def shows(self) -> Shows:
        """What is told of the events."""
        return self._lines or self._printer

    @contextmanager
    def notes(self) -> Generator[None]:
        """Prints notes within the block, unless the answer alone is to be printed."""
        if self._output == "quiet":
            with without_notes():
                yield
        else:
            yield

    def finish(self, answer: Answer, meter: CostMeter, saved: SavedConversation) -> None:
        """Print the ``answer``, what it cost, and what it is saved as."""
        from ...sessions.costs import cost_data

        more: dict[str, Any] = {"cost": cost_data(meter.usd), **saved.as_dict()}
        if self._lines is not None:
            self._lines.end(answer, more)
        elif self._output == "json":
            emit_json({**answer.as_dict(), **more})
        else:
            self._finish_for_people(answer, meter)

    def _finish_for_people(self, answer: Answer, meter: CostMeter) -> None:
        quiet = self._output == "quiet"
        if answer.fits:
            emit_json(answer.value)
        else:
            self._printer.answer(answer.content, () if quiet else answer.citations)
        if quiet and answer.broken:
            print_problem(answer.reason)
        if not quiet:
            self._printer.figures(answer, meter)


def _lines() -> JsonLines:
    from ..event_lines import JsonLines

    return JsonLines()
