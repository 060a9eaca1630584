"""What a record's annotation may say beyond a type, inside ``Annotated``.

Port = Annotated[int, Limits(1, 65_535)]
Url = Annotated[str, AfterValidator(check_url)]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

Shape = dict[str, Any]
"""A core schema of ``pydantic_core``: ``{"type": "int", "ge": 1}``."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The range of a number, the length of a string, the fewest items of a tuple; a string's pattern.

    ``least`` and ``most`` are included, ``above`` is not. Of ``X | None`` they are those of ``X``.
    """

    least: float | None = None
    most: float | None = None
    above: float | None = None
    pattern: str | None = None

    def apply(self, shape: Shape) -> Shape:
        """``shape`` within them. Raises ``TypeError`` where one has no meaning."""
        if isinstance(inner := shape.get("schema"), dict):
            return {**shape, "schema": self.apply(cast("Shape", inner))}
        names = _LIMITS.get(shape["type"], {})
        given = {name: limit for name in _GIVEN if (limit := getattr(self, name)) is not None}
        if senseless := given.keys() - names.keys():
            raise TypeError(f"{min(senseless)} means nothing for {shape['type']}")
        return {**shape, **{names[name]: limit for name, limit in given.items()}}


_GIVEN = ("least", "most", "above", "pattern")
_NUMBER = {"least": "ge", "most": "le", "above": "gt"}
_LIMITS = {
    "int": _NUMBER,
    "float": _NUMBER,
    "str": {"least": "min_length", "most": "max_length", "pattern": "pattern"},
    "tuple": {"least": "min_length"},
}


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some values, where ``Literal`` would narrow a base class's attribute."""

    values: tuple[str | int, ...]

    def apply(self, shape: Shape) -> Shape:
        del shape
        return {"type": "literal", "expected": list(self.values)}


@dataclass(frozen=True, slots=True)
class AfterValidator:
    """The value is what ``check`` gives for it; it raises ``ValueError``. It never sees null."""

    check: Callable[[Any], Any]

    def apply(self, shape: Shape) -> Shape:
        if shape["type"] == "nullable":
            return {**shape, "schema": self.apply(shape["schema"])}
        function = {"type": "no-info", "function": self.check}
        return {"type": "function-after", "schema": shape, "function": function}


@dataclass(frozen=True, slots=True)
class BeforeValidator:
    """The data is what ``convert(data, info)`` gives for it; ``info.context`` is the validation's."""

    convert: Callable[[Any, Any], Any]
    metadata: Shape = field(default_factory=Shape, hash=False)

    def apply(self, shape: Shape) -> Shape:
        function = {"type": "with-info", "function": self.convert}
        return {"type": "function-before", "schema": shape, "function": function, "metadata": self.metadata}


@dataclass(frozen=True, slots=True)
class PlainValidator:
    """The value is what ``make(data, info)`` gives; nothing else looks at the data."""

    make: Callable[[Any, Any], Any]
    metadata: Shape = field(default_factory=Shape, hash=False)

    def apply(self, shape: Shape) -> Shape:
        del shape
        function = {"type": "with-info", "function": self.make}
        return {"type": "function-plain", "function": function, "metadata": self.metadata}


@dataclass(frozen=True, slots=True)
class WithoutVariable:
    """A number or boolean that no ``${VAR}`` stands for; unless ``strict``, a string may spell it."""

    strict: bool = True

    def apply(self, shape: Shape) -> Shape:
        inner: Shape = shape["schema"]
        return inner if self.strict else {name: part for name, part in inner.items() if name != "strict"}


@dataclass(frozen=True, slots=True)
class ReadAs:
    """The data has the type ``annotation``; what the attribute holds in the end may be something else."""

    annotation: Any


Constraint = Limits | OneOf | AfterValidator | BeforeValidator | PlainValidator | WithoutVariable
"""What narrows or converts values: ``apply`` gives the core schema that comes of one."""
