"""What a suite expects of the answer: one of several rules."""

from __future__ import annotations

from .parsing import AnswerRule, parse_answer_rules

__all__ = ["AnswerRule", "parse_answer_rules"]
