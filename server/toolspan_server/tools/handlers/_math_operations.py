"""The calculator's operations. Each one knows the size of its result before it computes it."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from ._math_text import BadExpression

Number = int | float

MAX_BITS = 10_000
"""Largest integer that is ever computed: some 3,000 digits."""

_MAX_ROUNDED = 400
_TOO_LARGE = f"the result would have more than {MAX_BITS:,} bits (some 3,000 digits)"


def _bits(value: Number) -> int:
    return value.bit_length() if isinstance(value, int) else 64


def _within(bits: float) -> None:
    if bits > MAX_BITS:
        raise BadExpression(_TOO_LARGE)


def _add(left: Number, right: Number) -> Number:
    _within(max(_bits(left), _bits(right)) + 1)
    return left + right


def _subtract(left: Number, right: Number) -> Number:
    _within(max(_bits(left), _bits(right)) + 1)
    return left - right


def _multiply(left: Number, right: Number) -> Number:
    _within(_bits(left) + _bits(right))
    return left * right


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        if abs(base) > 1:
            _within(math.log2(abs(base)) * exponent)
        elif exponent > 1:
            exponent = 2 - exponent % 2
        return int(base**exponent)
    if base < 0 and not float(exponent).is_integer():
        raise BadExpression("a negative number has no real power with a fraction")
    return float(float(base) ** float(exponent))


def _whole(value: Number, what: str) -> int:
    if isinstance(value, float) and not value.is_integer():
        raise BadExpression(f"{what} needs whole numbers")
    return int(value)


def _natural(value: Number, what: str) -> int:
    whole = _whole(value, what)
    if whole < 0:
        raise BadExpression(f"{what} needs whole numbers of 0 or more")
    return whole


def _factorial(number: Number) -> int:
    n = _natural(number, "factorial")
    _within(math.lgamma(min(n, MAX_BITS) + 1) / math.log(2))
    return math.factorial(n)


def _perm(total: Number, chosen: Number) -> int:
    n, k = _natural(total, "perm"), _natural(chosen, "perm")
    if k > n:
        return 0
    _within(_bits(n) * k)
    return math.perm(n, k)


def _comb(total: Number, chosen: Number) -> int:
    n, k = _natural(total, "comb"), _natural(chosen, "comb")
    if k > n:
        return 0
    k = min(k, n - k)
    _within(_bits(n) * min(k, MAX_BITS) - math.lgamma(min(k, MAX_BITS) + 1) / math.log(2))
    return math.comb(n, k)


def _gcd(*numbers: Number) -> int:
    return math.gcd(*(_whole(number, "gcd") for number in numbers))


def _lcm(*numbers: Number) -> int:
    def of_two(left: int, right: int) -> int:
        _within(_bits(left) + _bits(right))
        return math.lcm(left, right)

    return reduce(of_two, (_whole(number, "lcm") for number in numbers), 1)


def _round(number: Number, digits: Number = 0) -> Number:
    places = _whole(digits, "round")
    if abs(places) > _MAX_ROUNDED:
        raise BadExpression(f"round takes from -{_MAX_ROUNDED} to {_MAX_ROUNDED} digits")
    return round(number, places) if places else round(number)


def _log(number: Number, base: Number = math.e) -> float:
    exact = {2: math.log2, 10: math.log10, math.e: math.log}.get(base)
    return exact(number) if exact else math.log(number, base)


def _sum(*numbers: Number) -> Number:
    start: Number = 0
    return reduce(_add, numbers, start)


def _max(first: Number, *others: Number) -> Number:
    return max((first, *others))


def _min(first: Number, *others: Number) -> Number:
    return min((first, *others))


def _divide(left: Number, right: Number) -> Number:
    return left / right


def _divide_down(left: Number, right: Number) -> Number:
    return left // right


OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: _add,
    ast.Sub: _subtract,
    ast.Mult: _multiply,
    ast.Div: _divide,
    ast.FloorDiv: _divide_down,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "acos": math.acos,
    "asin": math.asin,
    "atan": math.atan,
    "atan2": math.atan2,
    "ceil": math.ceil,
    "comb": _comb,
    "cos": math.cos,
    "cosh": math.cosh,
    "degrees": math.degrees,
    "exp": math.exp,
    "factorial": _factorial,
    "floor": math.floor,
    "gcd": _gcd,
    "lcm": _lcm,
    "ln": math.log,
    "log": _log,
    "log10": math.log10,
    "log2": math.log2,
    "max": _max,
    "min": _min,
    "perm": _perm,
    "pow": _power,
    "radians": math.radians,
    "round": _round,
    "sin": math.sin,
    "sinh": math.sinh,
    "sqrt": math.sqrt,
    "sum": _sum,
    "tan": math.tan,
    "tanh": math.tanh,
}

CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau}
