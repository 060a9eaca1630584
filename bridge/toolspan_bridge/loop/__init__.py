"""The loop: a question, a model, tools, and model turns until there is an answer."""

from __future__ import annotations

from ._arguments import Checker
from ._one_call import called
from ._question import DEFAULT_SYSTEM, Question
from ._requests import first_request, most_tools
from ._run import answer, run
from ._tool_search import SEARCH

__all__ = [
    "DEFAULT_SYSTEM",
    "SEARCH",
    "Checker",
    "Question",
    "answer",
    "called",
    "first_request",
    "most_tools",
    "run",
]
