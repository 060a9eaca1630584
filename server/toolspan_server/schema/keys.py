"""The keys of records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from .constraints import AfterValidator, Constraint, Limits, Shape
from .inert import Inert
from .shapes import shape_as_written

REQUIRED: Any = object()


class Key:
    """One key of a record. ``annotation`` is that of ``place``, an attribute of a class in ``module``."""

    def __init__(
        self,
        description: str,
        default: Any,
        factory: Callable[[], Any] | None,
        spellings: Sequence[str],
        hidden: bool,
        served: bool,
        constraints: Sequence[Constraint],
        inert: Inert | None = None,
    ) -> None:
        self.description = description
        self.default = default
        self.factory = factory
        self.spellings = spellings
        self.hidden = hidden
        self.served = served
        self.constraints = constraints
        self.inert = inert
        self.annotation: Any = None
        self.module = self.place = ""
        self._shape: Shape | None = None

    def of(self, owner: type, name: str) -> Key:
        """The key as the attribute ``name`` of ``owner``. Raises ``TypeError`` if that has no annotation."""
        bound = copy(self)
        bound.module, bound.place = owner.__module__, f"{owner.__qualname__}.{name}"
        if name not in owner.__annotations__:
            raise TypeError(f"{bound.place} has no annotation")
        bound.annotation = owner.__annotations__[name]
        return bound

    @property
    def shape(self) -> Shape:
        """The core schema of its values. Raises ``TypeError`` when the annotation gives none."""
        if self._shape is None:
            self._shape = self._derived()
        return self._shape

    def _derived(self) -> Shape:
        try:
            shape = shape_as_written(self.annotation, self.module)
            for constraint in self.constraints:
                shape = constraint.apply(shape)
        except TypeError as error:
            raise TypeError(f"{self.place}: {error}") from None
        return shape

    @property
    def required(self) -> bool:
        """Whether the key is required."""
        return self.default is REQUIRED and self.factory is None

    def initial(self) -> Any:
        """The value when the key is absent."""
        return self.default if self.factory is None else self.factory()

    def core_schema(self) -> Shape:
        """The key in the form of ``pydantic_core``."""
        shape = self.shape
        if self.factory is not None:
            shape = {"type": "default", "schema": shape, "default_factory": self.factory}
        elif self.default is not REQUIRED:
            shape = {"type": "default", "schema": shape, "default": self.default}
        field: Shape = {"type": "model-field", "schema": shape}
        if self.spellings:
            field["validation_alias"] = [[spelling] for spelling in self.spellings]
        return field


def key(
    description: str = "",
    *,
    default: Any = REQUIRED,
    factory: Callable[[], Any] | None = None,
    spellings: Sequence[str] = (),
    hidden: bool = False,
    served: bool = False,
    inert: Inert | None = None,
    check: Callable[[Any], Any] | None = None,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    pattern: str | None = None,
) -> Any:
    """Declares a key of a record: required unless it has a ``default`` or a ``factory`` of one.

    ``spellings`` are its names in the data, the first being the one for messages; the attribute's
    name is accepted as well. ``hidden``: its value is a secret, or may hold one: it is
    in no ``repr``, and replaced wherever the config is shown. ``served``: its texts are meant for
    clients, so that values of variables in them are no secrets. ``check`` returns the value to use
    for the one read, unless that is null; it raises ``ValueError``. ``inert`` says why the key may take
    effect in a config that nobody trusts; without it, it is left out there. The others are ``Limits``.
    """
    constraints: list[Constraint] = []
    if any(limit is not None for limit in (least, most, above, pattern)):
        constraints.append(Limits(least, most, above, pattern))
    if check is not None:
        constraints.append(AfterValidator(check))
    return Key(description, default, factory, spellings, hidden, served, constraints, inert)
