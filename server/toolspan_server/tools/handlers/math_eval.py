"""``math_eval``: a calculator for expressions that a model writes."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, cast

from ...calls.context import Context
from ...engines.registration import handler
from ...errors import ToolFailure
from ._arguments import text_of
from ._math_operations import (
    CONSTANTS,
    FUNCTIONS,
    OPERATORS,
    Number,
)
from ._math_text import BadExpression, Parsed, parsed

_Evaluate = Callable[[Any], Any]


@handler("math_eval")
async def math_eval(arguments: dict[str, Any], context: Context) -> dict[str, Number]:
    """``{"expression": "2+2"}`` → ``{"result": 4}``.

    Numbers, ``+ - * / // % ^ **`` (``^`` is the power too), brackets, the constants ``pi``, ``e``,
    ``tau`` and the functions of ``FUNCTIONS``; angles are in radians, halves are rounded to the even
    neighbour. Integers stay exact. At most 1,000 characters, 200 numbers and operations, 50 levels,
    and integers of 10,000 bits: every expression is answered or refused at once.
    """
    try:
        return {"result": calculated(text_of(arguments, "expression"))}
    except BadExpression as fault:
        raise ToolFailure(
            f"Invalid expression: {fault}", user_action="Correct the expression and call the tool again."
        ) from None


def calculated(expression: str) -> Number:
    """The value of ``expression``, a finite number. Raises ``BadExpression``."""
    whole = parsed(expression, CONSTANTS, FUNCTIONS)
    try:
        value: Number = _evaluator(whole).eval(expression, whole.tree)
    except RecursionError:
        raise BadExpression("it is nested too deeply") from None
    return 0.0 if value == 0 and isinstance(value, float) else value


def _evaluator(whole: Parsed) -> Any:
    evaluator = import_module("simpleeval").SimpleEval(
        operators=OPERATORS, functions=FUNCTIONS, names=CONSTANTS
    )
    allowed = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant)
    evaluator.nodes = {kind: partial(_located, whole, evaluator.nodes[kind]) for kind in allowed}
    return evaluator


def _located(whole: Parsed, evaluate: _Evaluate, node: ast.expr) -> Number:
    """What ``evaluate`` gives for ``node``, if a finite real number; otherwise it says where it isn't."""
    try:
        value = evaluate(node)
    except BadExpression as fault:
        if fault.column is not None:
            raise
        raise BadExpression(str(fault), whole.column(node)) from None
    except ZeroDivisionError:
        raise BadExpression("division by zero", whole.column(node)) from None
    except OverflowError:
        raise BadExpression("the result is too large", whole.column(node)) from None
    except TypeError:
        raise BadExpression(f"wrong number of values for {_name(node)}", whole.column(node)) from None
    except ValueError:
        raise BadExpression(f"{_name(node)} has no real result for this value", whole.column(node)) from None
    if isinstance(value, float) and not math.isfinite(value):
        raise BadExpression("the result is too large", whole.column(node))
    return cast("Number", value)


def _name(node: ast.expr) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else "the operation"
