"""The loop: a question, a model, tools, and model turns until there is an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._arguments import Checker
    from ._one_call import called
    from ._question import DEFAULT_SYSTEM, REPAIR_ATTEMPTS, RESULT_CHARACTERS, Question
    from ._requests import first_request, most_tools
    from ._run import answer, run
    from ._tool_search import SEARCH
    from .budget.summary import Compacted, compact
    from .limits import AtLimit, LimitChoice, LimitReached, Limits
    from .limits.limits import NO_LIMITS

__all__ = [
    "DEFAULT_SYSTEM",
    "NO_LIMITS",
    "REPAIR_ATTEMPTS",
    "RESULT_CHARACTERS",
    "SEARCH",
    "AtLimit",
    "Checker",
    "Compacted",
    "LimitChoice",
    "LimitReached",
    "Limits",
    "Question",
    "answer",
    "called",
    "compact",
    "first_request",
    "most_tools",
    "run",
]

_MODULES = {
    "AtLimit": ".limits",
    "Checker": "._arguments",
    "Compacted": ".budget.summary",
    "DEFAULT_SYSTEM": "._question",
    "LimitChoice": ".limits",
    "LimitReached": ".limits",
    "Limits": ".limits",
    "NO_LIMITS": ".limits.limits",
    "Question": "._question",
    "REPAIR_ATTEMPTS": "._question",
    "RESULT_CHARACTERS": "._question",
    "SEARCH": "._tool_search",
    "answer": "._run",
    "called": "._one_call",
    "compact": ".budget.summary",
    "first_request": "._requests",
    "most_tools": "._requests",
    "run": "._run",
}

if not TYPE_CHECKING:
    from toolspan_server.common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
