"""Constraints of a record's annotations, beyond a type, inside ``Annotated``.

Port = Annotated[int, Limits(1, 65_535)]
Url = Annotated[str, AfterValidator(check_url)]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

Shape = dict[str, Any]
"""A core schema of ``pydantic_core``: ``{"type": "int", "ge": 1}``."""


class Limits:
    """The range of a number, the length of a string, the least number of items of a tuple; a string's
    pattern.

    ``least`` and ``most`` are inclusive, ``above`` is exclusive. For ``X | None`` they apply to ``X``.
    """

    def __init__(
        self,
        least: float | None = None,
        most: float | None = None,
        above: float | None = None,
        pattern: str | None = None,
    ) -> None:
        limits = {"least": least, "most": most, "above": above, "pattern": pattern}
        self._given = {name: limit for name, limit in limits.items() if limit is not None}

    def apply(self, shape: Shape) -> Shape:
        """``shape`` with these limits. Raises ``TypeError`` for one that does not apply."""
        if isinstance(inner := shape.get("schema"), dict):
            return {**shape, "schema": self.apply(cast("Shape", inner))}
        names = _LIMITS.get(shape["type"], {})
        if senseless := self._given.keys() - names.keys():
            raise TypeError(f"{min(senseless)} means nothing for {shape['type']}")
        return {**shape, **{names[name]: limit for name, limit in self._given.items()}}


_NUMBER = {"least": "ge", "most": "le", "above": "gt"}
_LIMITS = {
    "int": _NUMBER,
    "float": _NUMBER,
    "str": {"least": "min_length", "most": "max_length", "pattern": "pattern"},
    "tuple": {"least": "min_length"},
}


class OneOf:
    """One of some values, where ``Literal`` would narrow a base class's attribute."""

    def __init__(self, values: tuple[str | int, ...]) -> None:
        self.values = values

    def apply(self, shape: Shape) -> Shape:
        del shape
        return {"type": "literal", "expected": list(self.values)}


class AfterValidator:
    """Replaces the value by ``check(value)``, which raises ``ValueError``. Null is not checked."""

    def __init__(self, check: Callable[[Any], Any]) -> None:
        self.check = check

    def apply(self, shape: Shape) -> Shape:
        if shape["type"] == "nullable":
            return {**shape, "schema": self.apply(shape["schema"])}
        function = {"type": "no-info", "function": self.check}
        return {"type": "function-after", "schema": shape, "function": function}


class BeforeValidator:
    """Replaces the data by ``convert(data, info)``; ``info.context`` is the validation's."""

    def __init__(self, convert: Callable[[Any, Any], Any], metadata: Shape | None = None) -> None:
        self.convert = convert
        self.metadata: Shape = metadata or {}

    def apply(self, shape: Shape) -> Shape:
        function = {"type": "with-info", "function": self.convert}
        return {"type": "function-before", "schema": shape, "function": function, "metadata": self.metadata}


class PlainValidator:
    """The value is the result of ``make(data, info)``; there is no other validation."""

    def __init__(self, make: Callable[[Any, Any], Any], metadata: Shape | None = None) -> None:
        self.make = make
        self.metadata: Shape = metadata or {}

    def apply(self, shape: Shape) -> Shape:
        del shape
        function = {"type": "with-info", "function": self.make}
        return {"type": "function-plain", "function": function, "metadata": self.metadata}


class WithoutVariable:
    """A number or boolean that cannot come from ``${VAR}``; unless ``strict``, a string may spell it."""

    def __init__(self, *, strict: bool = True) -> None:
        self.strict = strict

    def apply(self, shape: Shape) -> Shape:
        inner: Shape = shape["schema"]
        return inner if self.strict else {name: part for name, part in inner.items() if name != "strict"}


class ReadAs:
    """Validates the data as ``annotation``; the attribute's type may be different."""

    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation


Constraint = Limits | OneOf | AfterValidator | BeforeValidator | PlainValidator | WithoutVariable
"""Narrows or converts values: ``apply`` returns the resulting core schema."""
