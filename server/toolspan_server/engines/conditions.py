"""``when``: conditions on data by path: the arguments of a call, what the client answered, what a step gave.

when:
  city: Oslo                            # equal
  units: {in: [celsius, kelvin]}
  days: {ge: 1, lt: 8}
  address.street: {regex: /^main /i}    # RE2
  answers.sure.action: {not: {equals: accept}}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, cast

from ..common.did_you_mean import nearest
from ..common.re2_patterns import compiled_intent
from ..problems import Fault, Faulty
from ..schema.constraints import AfterValidator
from .templates import (
    NOTHING,
    Scope,
    TemplateError,
    path_of,
    value_at,
)

__all__ = ["Condition", "Conditions", "Test", "conditions", "equal"]

Test = Callable[[Any], bool]

_MAX_PATTERN = 1_000


def conditions(when: Mapping[str, Any]) -> Mapping[str, Any]:
    """``when`` as it is. Raises ``Faulty`` with everything that is wrong in it."""
    faults: list[Fault] = []
    for path, wanted in when.items():
        try:
            path_of(path)
        except TemplateError as error:
            faults.append(Fault((path,), str(error).replace("template", "path"), on_key=True))
        try:
            _test(wanted)
        except Faulty as faulty:
            faults += [Fault((path, *f.path), f.message, f.hint, f.on_key) for f in faulty.faults]
    if faults:
        raise Faulty(*faults)
    return when


Conditions = Annotated[dict[str, Any], AfterValidator(conditions)]
"""``when`` in a config."""


class Condition:
    """``when``, ready to be asked."""

    def __init__(self, when: Mapping[str, Any] | None) -> None:
        self._tests = [(path_of(path), _test(wanted)) for path, wanted in (when or {}).items()]

    def holds(self, scope: Scope) -> bool:
        """Whether every condition holds for the data in ``scope``."""
        return all(test(value_at(scope, path)) for path, test in self._tests)


def equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same: 1 is 1.0, and neither is true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        left, right = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
        return left.keys() == right.keys() and all(equal(left[name], right[name]) for name in left)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        first, second = cast("Sequence[Any]", one), cast("Sequence[Any]", other)
        return len(first) == len(second) and all(map(equal, first, second))
    return bool(one == other)


def _test(wanted: Any) -> Test:
    if not isinstance(wanted, Mapping):
        return lambda value: value is not NOTHING and equal(value, wanted)
    tests: list[Test] = []
    faults: list[Fault] = []
    for name, operand in cast("Mapping[str, Any]", wanted).items():
        if name not in _MAKERS:
            hint = nearest(name, _MAKERS) + "; an object is compared by {equals: {…}}"
            faults.append(Fault((name,), f"unknown condition {name!r}", hint, on_key=True))
            continue
        try:
            tests.append(_MAKERS[name](operand))
        except Faulty as faulty:
            faults += [Fault((name, *f.path), f.message, f.hint, f.on_key) for f in faulty.faults]
        except ValueError as error:
            faults.append(Fault((name,), str(error)))
    if faults:
        raise Faulty(*faults)
    return lambda value: all(test(value) for test in tests)


def _equals(operand: Any) -> Test:
    return lambda value: value is not NOTHING and equal(value, operand)


def _not(operand: Any) -> Test:
    test = _test(operand)
    return lambda value: not test(value)


def _in(operand: Any) -> Test:
    if not isinstance(operand, list | tuple):
        raise ValueError("must be a list")
    among = cast("Sequence[Any]", operand)
    return lambda value: value is not NOTHING and any(equal(value, one) for one in among)


def _contains(operand: Any) -> Test:
    def test(value: Any) -> bool:
        if isinstance(value, str):
            return isinstance(operand, str) and operand in value
        items: list[Any] = [*value] if isinstance(value, list) else []
        return any(equal(item, operand) for item in items)

    return test


def _exists(operand: Any) -> Test:
    if not isinstance(operand, bool):
        raise ValueError("must be true or false")
    return lambda value: (value is not NOTHING) == operand


def _regex(operand: Any) -> Test:
    if not isinstance(operand, str) or not 0 < len(operand) <= _MAX_PATTERN:
        raise ValueError(f"must be an RE2 pattern of at most {_MAX_PATTERN:,} characters")
    pattern = compiled_intent(operand)
    return lambda value: isinstance(value, str) and pattern.search(value) is not None


def _compared(holds: Callable[[Any, Any], bool]) -> Callable[[Any], Test]:
    """Numbers are compared with numbers, texts with texts by their characters (so dates by time)."""

    def make(operand: Any) -> Test:
        if isinstance(operand, bool) or not isinstance(operand, int | float | str):
            raise ValueError("must be a number or a text")
        kind = str if isinstance(operand, str) else (int, float)
        return lambda value: isinstance(value, kind) and not isinstance(value, bool) and holds(value, operand)

    return make


_MAKERS: Mapping[str, Callable[[Any], Test]] = {
    "contains": _contains,
    "equals": _equals,
    "exists": _exists,
    "ge": _compared(lambda value, operand: value >= operand),
    "gt": _compared(lambda value, operand: value > operand),
    "in": _in,
    "le": _compared(lambda value, operand: value <= operand),
    "lt": _compared(lambda value, operand: value < operand),
    "not": _not,
    "regex": _regex,
}
