"""Filling in: paths through plain data, filters, and a limit on what comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ._errors import MissingValue, RenderFailure
from ._filters import FILTERS, as_text
from ._parse import NOTHING, Expression

Scope = Mapping[str, Any]
"""The data that a template may use: plain JSON by name."""

MAX_OUTPUT = 1_048_576
"""How many characters of text one rendering may give, unless its caller says otherwise."""


_WORK = 32
"""How many times that many characters the filters may give on the way."""


class Budget:
    """The characters that are left: of what comes out, and of what filters make of values."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit
        self._work = _WORK * limit

    def spend(self, text: str) -> str:
        """``text``. Raises ``RenderFailure`` when it is more than what is left."""
        self._left -= len(text)
        if self._left < 0:
            raise RenderFailure(f"The template gives more than {self._limit:,} characters")
        return text

    def work(self, value: Any) -> Any:
        """``value``, which a filter gave. Raises ``RenderFailure`` when the filters have too much to do."""
        self._work -= len(value) + 1 if isinstance(value, str) else 1
        if self._work < 0:
            raise RenderFailure(f"The template's filters make more than {_WORK * self._limit:,} characters")
        return value


def rendered(parts: Sequence[str | Expression], scope: Scope, budget: Budget) -> Any:
    """The value of a template's ``parts``."""
    if len(parts) == 1 and not isinstance(parts[0], str):
        value = evaluated(parts[0], scope, budget)
        return budget.spend(value) if isinstance(value, str) else value
    pieces = (part if isinstance(part, str) else as_text(evaluated(part, scope, budget)) for part in parts)
    return "".join(map(budget.spend, pieces))


def evaluated(expression: Expression, scope: Scope, budget: Budget) -> Any:
    """The value of ``expression``. Raises ``RenderFailure``."""
    value = expression.literal if not expression.path else value_at(scope, expression.path)
    for use in expression.filters:
        if use.name == "default":
            value = use.argument if value is NOTHING or value is None else value
        elif value is not NOTHING:
            function, _ = FILTERS[use.name]
            made = function(value) if use.argument is NOTHING else function(value, use.argument)
            value = budget.work(made)
    if value is NOTHING:
        raise MissingValue(expression.path)
    return value


def value_at(scope: Scope, path: Sequence[str | int]) -> Any:
    """What stands at ``path``, or ``NOTHING``."""
    value: Any = scope
    for part in path:
        if isinstance(part, str):
            if not isinstance(value, Mapping) or part not in value:
                return NOTHING
            value = cast("Mapping[str, Any]", value)[part]
        else:
            if not isinstance(value, list | tuple):
                return NOTHING
            items = cast("Sequence[Any]", value)
            if not -len(items) <= part < len(items):
                return NOTHING
            value = items[part]
    return value
