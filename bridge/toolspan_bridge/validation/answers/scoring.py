"""Verdicts on recorded answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .contract import RecordedAnswer, Scorable
from .reading import LineFault

MISSING = "no answer is recorded for it"


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """The verdict on one id, and its reason where it is no success. ``success`` is ``None`` for an id that
    the suite leaves out."""

    id: str
    success: bool | None
    reason: str
    is_missing: bool = False

    def as_dict(self) -> dict[str, Any]:
        """``{"id", "success", "reason"}``."""
        return {"id": self.id, "success": self.success, "reason": self.reason}


def score(
    answers: Iterable[RecordedAnswer | LineFault],
    suite: Scorable,
    on_fault: Callable[[str], None],
    name: str = "answers",
) -> Iterator[ScoredAnswer]:
    """A verdict on each of ``answers`` as it is read, and at the end one on each id without an answer, which
    is no success.

    ``on_fault`` is told, as ``file:line: …`` with the file's ``name``, of each line that is none, each
    unknown id, and each id that is there twice: the first answer counts.
    """
    known, lines = frozenset(suite.ids), dict[str, int]()
    for answer in answers:
        if isinstance(answer, LineFault):
            on_fault(answer.text)
            continue
        place = f"{name}:{answer.line}"
        if answer.id in lines:
            first = lines[answer.id]
            on_fault(f"{place}: {answer.id!r} is there already, in line {first}: only that one counts")
        elif answer.id in known:
            lines[answer.id] = answer.line
            reason = suite.fault_of(answer)
            yield ScoredAnswer(answer.id, not reason, reason)
        elif (why := suite.unscored(answer.id)) is not None:
            yield ScoredAnswer(answer.id, None, f"not scored: {why}")
        else:
            on_fault(f"{place}: the suite {suite.name!r} has no {answer.id!r}")
    for missing in suite.ids:
        if missing not in lines:
            yield ScoredAnswer(missing, False, MISSING, is_missing=True)
