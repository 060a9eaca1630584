"""``calculator``: plain arithmetic, and a history of it for each conversation."""

from __future__ import annotations

import ast
import time
from functools import partial
from typing import Any, cast

from ...calls.context import Context
from ...engines.registration import handler
from ...errors import ToolFailure
from ...schema.keys import Inert
from ._arguments import text_of
from ._math_evaluation import Language, evaluated
from ._math_operations import FUNCTIONS, OPERATORS
from ._math_text import BadExpression

HISTORY = "history"
"""The key of the entries in the tool's storage."""

MOST_ENTRIES = 100

_NAMES = ("abs", "min", "max", "round", "sum", "pow")
_LANGUAGE = Language(
    {node: work for node, work in OPERATORS.items() if node is not ast.FloorDiv},
    {name: FUNCTIONS[name] for name in _NAMES},
    refused={"//": "divide with /", "^": "write ** for a power"},
    seconds=1.0,
)


@handler("calculator", inert=Inert("it computes, and keeps its own history of that"))
def calculator(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"expression": "2 + 2"}`` → ``{"success": true, "result": 4, "expression": "2 + 2"}``.

    Numbers, ``+ - * / % **``, brackets, and the functions abs, min, max, round, sum and pow. At most 1,000
    characters and 1 second; a number that would be huge is refused before it is computed. The last 100
    calculations of a conversation are in the tool's storage, under ``history``: ``[{"expression", "result",
    "timestamp"}]``, the oldest first, in seconds since 1970.
    """
    expression = text_of(arguments, "expression")
    try:
        result = evaluated(expression, _LANGUAGE)
    except BadExpression as fault:
        raise ToolFailure(
            f"Invalid expression: {fault}",
            error_code="invalid_expression",
            user_action="Correct the expression and call the tool again.",
        ) from None
    entry = {"expression": expression, "result": result, "timestamp": int(time.time())}
    context.storage.update(HISTORY, partial(_with, entry), default=[])
    return {"success": True, "result": result, "expression": expression}


def _with(entry: dict[str, Any], history: object) -> list[Any]:
    if not isinstance(history, list):
        raise ToolFailure(
            "The history that the calculator has stored for the conversation is no list",
            error_code="storage_damaged",
            user_action="Whoever runs the server can correct or remove it.",
        )
    earlier: list[Any] = cast("Any", history)
    return [*earlier, entry][-MOST_ENTRIES:]
