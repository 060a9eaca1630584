"""Queries on a core schema of ``pydantic_core``: which keys and values it allows at a path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Protocol, cast

from ..problems import Path

Shape = Mapping[str, Any]


class HasCoreSchema(Protocol):
    """A class with a core schema: one of our records, or a pydantic model."""

    __pydantic_core_schema__: ClassVar[Any]


def keys_at(model: type[HasCoreSchema], location: Path) -> list[str]:
    """The keys of the object at ``location`` inside ``model``, as messages call them."""
    for shape in _at(model, location):
        if shape["type"] == "model-fields":
            return [_spellings(name, field)[0] for name, field in shape["fields"].items()]
    return []


def shapes_of(model: type[HasCoreSchema], location: Path) -> list[Shape]:
    """The core schemas of the value at ``location``; without one, those of the nearest parent key."""
    for end in range(len(location), 0, -1):
        for shape in _at(model, location[: end - 1]):
            if shape["type"] == "model-fields" and (field := _field(shape, location[end - 1])) is not None:
                return list(_alternatives(field["schema"], _definitions(model)))
    return []


def _at(model: type[HasCoreSchema], location: Path) -> list[Shape]:
    definitions = _definitions(model)
    found = list(_alternatives(model.__pydantic_core_schema__, definitions))
    for part in location:
        inner = [inside for shape in found if (inside := _inside(shape, part)) is not None]
        found = [each for shape in inner for each in _alternatives(shape, definitions)]
    return found


def _alternatives(shape: Shape, definitions: Mapping[str, Shape]) -> Iterator[Shape]:
    """``shape`` without its wrappers; each of its choices when it is a union."""
    if shape["type"] == "union":
        for choice in shape["choices"]:
            one = cast("Any", choice[0] if isinstance(choice, tuple) else choice)
            yield from _alternatives(one, definitions)
    elif shape["type"] == "definition-ref":
        yield from _alternatives(definitions[shape["schema_ref"]], definitions)
    elif isinstance(inner := shape.get("schema"), dict):
        yield from _alternatives(cast("Shape", inner), definitions)
    else:
        yield shape


def _inside(shape: Shape, part: str | int) -> Shape | None:
    match shape["type"]:
        case "model-fields":
            field = _field(shape, part)
            return None if field is None else cast("Shape", field["schema"])
        case "dict":
            return cast("Shape | None", shape.get("values_schema"))
        case "list":
            return cast("Shape | None", shape.get("items_schema"))
        case "tuple":
            return cast("Shape", shape["items_schema"][0])
        case _:
            return None


def _field(shape: Shape, part: str | int) -> Shape | None:
    fields: Mapping[str, Shape] = shape["fields"]
    return next((field for name, field in fields.items() if part in _spellings(name, field)), None)


def _spellings(name: str, field: Shape) -> list[str]:
    alias: Any = field.get("validation_alias")
    if isinstance(alias, str):
        return [alias, name]
    return [*(str(path[0]) for path in alias or ()), name]


def _definitions(model: type[HasCoreSchema]) -> Mapping[str, Shape]:
    whole = model.__pydantic_core_schema__
    listed: list[Shape] = whole.get("definitions", []) if whole["type"] == "definitions" else []
    return {definition["ref"]: definition for definition in listed}
