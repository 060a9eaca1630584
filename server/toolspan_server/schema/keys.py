"""The keys of records, and the marks of what is inert: of what takes effect in a folder that nobody trusts.

A found config is used in restricted mode until a person trusts its folder. Restricted, only what carries a
mark is taken from it. A key or a part without one is left out, so that a new one is left out until somebody
writes down why it is harmless:

    text: str | None = key("The content.", inert=DATA)
    file: str | None = key("The file.", inert=FILE_INSIDE)
    calls: Count = key("Most calls.", default=16, inert=at_most(16))

A mark holds for the value alone; the keys of records inside of it need marks of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from .constraints import AfterValidator, Constraint, Limits, Shape
from .shapes import shape_as_written

Test = Callable[[Any, Path], bool]


def _always(_value: Any, _folder: Path) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Inert:
    """Says why a value is inert; ``when`` is called with the value and the config's folder, and says whether
    it is. ``holds_variables``: it may have variables in it, as it is neither shown nor sent."""

    reason: str
    when: Test = _always
    holds_variables: bool = False


DATA = Inert("it is data that is shown to clients and models")
CHOICE = Inert("it selects among things that are inert themselves")
PURE = Inert("it computes its result from its arguments alone")
CONDITION = Inert("it is compared with what is called, and neither shown nor sent", holds_variables=True)
PARTS = Inert("its parts are judged one by one")


NARROWER = Inert("there is no limit by default, so that any narrows")


def at_most(limit: float) -> Inert:
    """A number that allows no more than ``limit``, the default, does."""
    return Inert(
        "it only narrows what the default allows", lambda value, _: value is not None and value <= limit
    )


def only(*values: Any, reason: str = "the value is no less strict than the default") -> Inert:
    """One of ``values``."""
    return Inert(reason, lambda value, _: value in values)


def _lies_inside(value: Any, folder: Path) -> bool:
    paths = cast("Iterable[Any]", value) if isinstance(value, tuple | list) else (value,)
    return all(path is None or is_inside_folder(path, folder) for path in paths)


FILE_INSIDE = Inert("it is read as text, and lies in the folder", _lies_inside)


def is_inside_folder(path: Any, folder: Path) -> bool:
    """Whether ``path``, relative to ``folder``, lies inside it after links are followed. Of a glob or a name
    with variables, the part before the first of these counts: what is found below is opened without leaving
    the folder."""
    if not isinstance(path, str) or "\0" in path or path.startswith("~"):
        return False
    fixed: list[str] = []
    for part in Path(path).parts:
        if any(sign in part for sign in "*?[{"):
            break
        fixed.append(part)
    if ".." in Path(path).parts:
        return False
    try:
        root = folder.resolve()
        return root.joinpath(*fixed).resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):
        return False


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
