"""The loop: a question, a model, tools, and turns until there is an answer."""

from __future__ import annotations

from ._question import Question
from ._run import answer, run

__all__ = ["Question", "answer", "run"]
