"""The loop: a question, a model, tools, and turns until there is an answer."""

from __future__ import annotations

from ._run import Question, answer, run

__all__ = ["Question", "answer", "run"]
