"""Recorded answers: scored without a model.

with open("answers.jsonl", "rb") as file:
    for verdict in score(read_answers(file, "answers.jsonl"), suite, faults):
        print(verdict.as_dict())
"""

from __future__ import annotations

from .contract import RecordedAnswer, RecordedCall, RecordedTurn, Scorable
from .reading import LineFault, read_answers
from .scoring import ScoredAnswer, score

__all__ = [
    "LineFault",
    "RecordedAnswer",
    "RecordedCall",
    "RecordedTurn",
    "Scorable",
    "ScoredAnswer",
    "read_answers",
    "score",
]
