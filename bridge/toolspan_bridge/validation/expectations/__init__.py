"""What a suite expects of a value that a model wrote: of an argument, and of the answer.

Each form of an argument is a module of ``arguments``, each of an answer one of ``answers``; tables name them.
"""

from __future__ import annotations

from .answers import AnswerRule, parse_answer_rules
from .arguments import MISSING, check_expected, fits, told

__all__ = ["MISSING", "AnswerRule", "check_expected", "fits", "parse_answer_rules", "told"]
