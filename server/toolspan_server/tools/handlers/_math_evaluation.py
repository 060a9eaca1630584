"""The value of an expression, in a language of chosen operators, functions and constants."""

from __future__ import annotations

import ast
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, cast

from ._math_operations import Number
from ._math_text import BadExpression, Parsed, parsed

_Evaluate = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Language:
    """What an expression may use: operators by their nodes, functions and constants by their names.

    ``refused`` has a hint for each sign that is an operator elsewhere and none here. The value has to be
    there after ``seconds``.
    """

    operators: Mapping[type[ast.AST], Callable[..., Any]]
    functions: Mapping[str, Callable[..., Any]]
    constants: Mapping[str, float] = field(default_factory=dict[str, float])
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = math.inf


def evaluated(expression: str, language: Language) -> Number:
    """The value of ``expression``, a finite number. Raises ``BadExpression``."""
    whole = parsed(expression, language.constants, language.functions, language.refused)
    try:
        value: Number = _evaluator(whole, language).eval(expression, whole.tree)
    except RecursionError:
        raise BadExpression("it is nested too deeply") from None
    return 0.0 if value == 0 and isinstance(value, float) else value


def _evaluator(whole: Parsed, language: Language) -> Any:
    evaluator = import_module("simpleeval").SimpleEval(
        operators=language.operators, functions=language.functions, names=language.constants
    )
    allowed = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant)
    end = time.monotonic() + language.seconds

    def located(evaluate: _Evaluate, node: ast.expr) -> Number:
        if time.monotonic() > end:
            raise BadExpression(f"it takes longer than {language.seconds:g} s", whole.column(node))
        return _located(whole, evaluate, node)

    evaluator.nodes = {kind: partial(located, evaluator.nodes[kind]) for kind in allowed}
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
