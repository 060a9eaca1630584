"""``math_eval``: a calculator for expressions that a model writes."""

from __future__ import annotations

from typing import Any

from ...calls.context import Context
from ...engines.registration import handler
from ...errors import ToolFailure
from ...schema.keys import PURE
from ._arguments import text_of
from ._math_evaluation import Language, evaluated
from ._math_operations import CONSTANTS, FUNCTIONS, OPERATORS, Number
from ._math_text import BadExpression

_LANGUAGE = Language(OPERATORS, FUNCTIONS, CONSTANTS)


@handler("math_eval", inert=PURE)
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
    return evaluated(expression, _LANGUAGE)
