"""Records: frozen data of a declared shape, such as a config's parts.

    class Place(Record):
        '''A place.'''

        city: str = key("The city's name.", least=1)
        zone: str | None = key("Its time zone.", default=None)

They are validated by ``pydantic_core``, pydantic's engine, and raise its ``ValidationError``. Pydantic
itself, which derives such shapes from annotations too, takes longer to import and set up than all the rest
of a server's start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from pydantic_core import SchemaValidator
from typing_extensions import override

from .constraints import AfterValidator, ReadAs, Shape
from .keys import Key, key

__all__ = ["Key", "NamedRecords", "Record", "is_same", "key"]


class Record:
    """Base of frozen data. Raises ``pydantic_core.ValidationError`` for data of another shape.

    ``check`` may be overridden for checks across keys; it raises ``ValueError``.
    """

    __slots__ = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
    __pydantic_fields_set__: set[str]
    __pydantic_core_schema__: ClassVar[Shape]
    __pydantic_validator__: ClassVar[SchemaValidator]
    model_fields: ClassVar[Mapping[str, Key]] = {}

    @override
    def __init_subclass__(
        cls, unknown: Literal["forbid", "ignore"] = "forbid", keys_of: Iterable[type[Record]] = ()
    ) -> None:
        """``keys_of`` are records whose keys are appended to its own."""
        own = {name: value.of(cls, name) for name, value in vars(cls).items() if isinstance(value, Key)}
        for name in own:
            delattr(cls, name)
        cls.model_fields = {**cls.model_fields, **own}
        for other in keys_of:
            cls.model_fields = {**cls.model_fields, **other.model_fields}
        cls.__pydantic_core_schema__ = cast("Any", _CoreSchema(unknown))

    def __init__(self, **data: Any) -> None:
        self._validator().validate_python(data, self_instance=self)

    def check(self) -> None:
        """Raise ``ValueError`` when the keys, each valid by itself, contradict each other."""

    @classmethod
    def model_validate(cls, data: Any, *, context: Any = None) -> Self:
        """``data``, an object with the record's keys, as a record. ``context`` is passed to every check."""
        return cast("Self", cls._validator().validate_python(data, context=context))

    @classmethod
    def inside(cls) -> Shape:
        """The core schema of the record's contents."""
        fields = {name: each.core_schema() for name, each in cls.model_fields.items()}
        return {"type": "model-fields", "model_name": cls.__name__, "fields": fields}

    @classmethod
    def initial(cls) -> Self:
        """The record whose every key is absent, where all may be."""
        return cls._of({name: each.initial() for name, each in cls.model_fields.items()}, set())

    @property
    def model_fields_set(self) -> set[str]:
        """The names of the keys that the data had."""
        return self.__pydantic_fields_set__

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """A copy with other values, which are not validated."""
        changes = {} if update is None else dict(update)
        return self._of({**vars(self), **changes}, self.model_fields_set | changes.keys())

    def model_dump(self) -> Any:
        """The record as plain data."""
        return {name: _plain(getattr(self, name)) for name in self.model_fields}

    @classmethod
    def _validator(cls) -> SchemaValidator:
        if "__pydantic_validator__" not in vars(cls):
            cls.__pydantic_validator__ = SchemaValidator(cast("Any", cls.__pydantic_core_schema__))
        return cls.__pydantic_validator__

    @classmethod
    def _of(cls, values: Mapping[str, Any], given: set[str]) -> Self:
        record = cls.__new__(cls)
        object.__setattr__(record, "__dict__", dict(values))
        object.__setattr__(record, "__pydantic_fields_set__", given)
        return record

    @override
    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self._validator().validate_assignment(self, name, value)

    @override
    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self.model_fields
        )

    @override
    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, name) for name in self.model_fields)))

    @override
    def __repr__(self) -> str:
        shown = (
            f"{name}={getattr(self, name)!r}" for name, each in self.model_fields.items() if not each.hidden
        )
        return f"{type(self).__name__}({', '.join(shown)})"


class _CoreSchema:
    """A record's core schema, derived at first use."""

    __slots__ = ("unknown",)

    def __init__(self, unknown: str) -> None:
        self.unknown = unknown

    def __get__(self, _record: object, record: type[Record]) -> Shape:
        try:
            shape = _whole(record, record.inside(), self.unknown)
        except RecursionError:
            raise TypeError(f"{record.__qualname__} holds itself") from None
        record.__pydantic_core_schema__ = shape
        return shape


def _whole(cls: type[Record], inside: Shape, unknown: str) -> Shape:
    config = {
        "title": cls.__name__,
        "allow_inf_nan": False,
        "extra_fields_behavior": unknown,
        "validate_by_name": True,
        "validate_by_alias": True,
    }
    shape: Shape = {
        "type": "model",
        "cls": cls,
        "schema": inside,
        "config": config,
        "frozen": True,
        "root_model": issubclass(cls, NamedRecords),
    }
    return shape if cls.check is Record.check else AfterValidator(_checked).apply(shape)


def _checked(record: Record) -> Record:
    record.check()
    return record


class NamedRecords(Record):
    """A record that is an object with arbitrary names: its values are in ``root``, with the type annotated
    there.
    """

    root: Annotated[Any, ReadAs(dict[str, Any])]

    @classmethod
    @override
    def inside(cls) -> Shape:
        declaring = next(each for each in cls.__mro__ if "root" in each.__annotations__)
        root: Key = key().of(declaring, "root")
        return root.shape

    @override
    def model_dump(self) -> Any:
        return _plain(self.root)

    @override
    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and bool(self.root == cast("Self", other).root)

    @override
    def __hash__(self) -> int:
        return hash((type(self), *self.root))

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.root!r})"


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.model_dump()
    if isinstance(value, tuple):
        parts: tuple[Any, ...] = cast("Any", value)
        return tuple(map(_plain, parts))
    if isinstance(value, dict):
        named: dict[Any, Any] = cast("Any", value)
        return {name: _plain(part) for name, part in named.items()}
    return value


def is_same(one: Any, other: Any) -> bool:
    """Whether two records, or parts of them, are equal.

    Unlike ``==`` it distinguishes ``1`` from ``true`` and from ``1.0``, and one order of keys from another.
    """
    return bool(one == other) and repr(one) == repr(other)
