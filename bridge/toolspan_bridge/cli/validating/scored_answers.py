"""Verdicts on recorded answers, as they come."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import IO

from toolspan_server.common.visible import visible_line

from ...errors import UsageError
from ...validation import Suite
from ...validation.answers import RecordedAnswer, Scorable, ScoredAnswer, read_answers, score
from ...validation.answers.of_suites import ScorableSuite
from ...validation.bfcl import BfclSuite, ScorableBfcl, left_out_notes, writes_underscores
from ..terminal.output import emit_json_line, emit_table, emit_text, print_note, print_problem

EXIT_BELOW = 6
_SHOWN_FAULTS = 20


def score_answers(path: str, suite: Suite | BfclSuite, threshold: float, *, as_json: bool) -> int:
    """Print a verdict on each answer in the file ``path`` (``-`` is stdin); the exit code: 0, 2 for lines
    that are no answers to ``suite``, 6 when fewer than ``threshold`` are right.

    Raises ``UsageError`` for a file that cannot be read.
    """
    name = "stdin" if path == "-" else path
    faults = _Faults()
    with _opened(path) as file:
        scorable = _scorable(suite, file, name)
        tally = _Tally(scorable)
        for verdict in score(read_answers(file, name), scorable, faults.add, name):
            tally.add(verdict)
            _show(verdict, as_json=as_json)
    faults.close()
    tally.show(as_json=as_json)
    if faults.count:
        return UsageError.exit_code
    return 0 if tally.reaches(threshold) else EXIT_BELOW


def _scorable(suite: Suite | BfclSuite, file: IO[bytes], name: str) -> Scorable:
    if isinstance(suite, Suite):
        return ScorableSuite(suite)
    for note in left_out_notes(suite):
        print_note(note)
    read = (answer for answer in read_answers(file, name) if isinstance(answer, RecordedAnswer))
    underscored = writes_underscores(suite, read)
    file.seek(0)
    if underscored:
        print_note(
            f"{name} writes function names with _ for .: it is scored so, as BFCL does for such models"
        )
    return ScorableBfcl(suite, underscored=underscored)


@contextmanager
def _opened(path: str) -> Generator[IO[bytes]]:
    """The file, which can be read twice."""
    try:
        if path != "-":
            with Path(path).open("rb") as file:
                yield file
            return
    except OSError as error:
        raise UsageError(f"the answers {path} cannot be read: {error.strerror}") from None
    with tempfile.TemporaryFile() as copy:
        copyfileobj(sys.stdin.buffer, copy)
        copy.seek(0)
        yield copy


def _show(verdict: ScoredAnswer, *, as_json: bool) -> None:
    if as_json:
        emit_json_line(verdict.as_dict())
    elif not verdict.success:
        sign = "·" if verdict.success is None else "✗"
        emit_text(visible_line(f"{sign} {verdict.id}: {verdict.reason}"))


class _Faults:
    """Lines that are no answers, said as they come, the first ones each."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, text: str) -> None:
        self.count += 1
        if self.count <= _SHOWN_FAULTS:
            print_problem(text)

    def close(self) -> None:
        """Say how many there were beside those that were said."""
        if self.count > _SHOWN_FAULTS:
            print_problem(f"{self.count - _SHOWN_FAULTS:,} more lines are at fault")


class _Tally:
    """How many are right, of each group."""

    def __init__(self, suite: Scorable) -> None:
        self._suite = suite
        self._all: Counter[str] = Counter()
        self._right: Counter[str] = Counter()
        self._missing = 0

    def add(self, verdict: ScoredAnswer) -> None:
        if verdict.success is None:
            return
        group = self._suite.group_of(verdict.id)
        self._all[group] += 1
        self._right[group] += verdict.success
        self._missing += verdict.is_missing

    def reaches(self, threshold: float) -> bool:
        return self._right.total() >= threshold * self._all.total()

    def show(self, *, as_json: bool) -> None:
        """The table of groups on stdout, where it is not JSON; the sum, and what is missing, on stderr."""
        if len(self._all) > 1 and not as_json:
            emit_table(("category", "n", "right", "rate"), self._rows(self._all))
        if self._missing:
            print_note(f"{self._missing:,} ids have no answer: they count as failures")
        n, right = self._all.total(), self._right.total()
        print_note(f"{right:,} of {n:,} are right ({_percent(right, n)}); nothing is recorded of them")

    def _rows(self, groups: Iterable[str]) -> Iterable[tuple[str, str, str, str]]:
        for group in groups:
            n, right = self._all[group], self._right[group]
            yield group, f"{n:,}", f"{right:,}", _percent(right, n)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"
