"""The loop: a question, a model, tools, and model turns until there is an answer."""

from __future__ import annotations

from ._question import DEFAULT_SYSTEM, Question
from ._run import answer, run

__all__ = ["DEFAULT_SYSTEM", "Question", "answer", "run"]
