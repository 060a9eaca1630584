"""What pydantic finds, in our words: allowed ranges, nearest known keys, places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin

from pydantic import AliasChoices, BaseModel, RootModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from ..suggestions import nearest
from ._problems import Fault, Faulty, Path

_WANTED = {
    "bool": "true or false",
    "dict": "an object",
    "float": "a number",
    "int": "an integer",
    "list": "a list",
    "mapping": "an object",
    "model": "an object",
    "string": "a string",
    "tuple": "a list",
}
_TRUTH = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
_RANGE = ("greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number")


class Misfit(ValueError):
    """A part of the data does not fit ``model``, which its content chose; ``error`` says how."""

    def __init__(self, model: type[BaseModel], error: ValidationError) -> None:
        super().__init__(str(error))
        self.model = model
        self.error = error


def faults_of(error: ValidationError, model: type[BaseModel], prefix: Path = ()) -> Iterator[Fault]:
    """Every fault that ``error``, raised by ``model``, holds; paths start with ``prefix``."""
    for detail in error.errors(include_url=False):
        yield from _faults(detail, model, prefix)


def _faults(detail: ErrorDetails, model: type[BaseModel], prefix: Path) -> Iterator[Fault]:
    location, sort = tuple(detail["loc"]), detail["type"]
    on_key = location[-1:] == ("[key]",)
    path = (*prefix, *(location[:-1] if on_key else location))
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, Misfit):
        yield from faults_of(cause.error, cause.model, path)
    elif isinstance(cause, Faulty):
        yield from (Fault((*path, *f.path), f.message, f.hint, f.on_key) for f in cause.faults)
    elif sort == "missing":
        yield Fault(path[:-1], f"{str(path[-1])!r} is missing", f"add {path[-1]}")
    elif sort == "extra_forbidden":
        known = _known_keys(model, location[:-1])
        yield Fault(path, f"unknown key {str(path[-1])!r}", _key_hint(str(path[-1]), known), on_key=True)
    elif cause is not None:
        yield Fault(path, str(cause), on_key=on_key)
    else:
        yield Fault(path, *_wrong_value(detail, _field(model, location)), on_key=on_key)


def _wrong_value(detail: ErrorDetails, field: FieldInfo | None) -> tuple[str, str]:
    sort, context, value = detail["type"], detail.get("ctx", {}), detail["input"]
    wanted = _WANTED.get(sort.split("_")[0]) if sort.endswith(("_type", "_parsing")) else None
    if sort == "int_from_float":
        wanted = _WANTED["int"]
    if sort == "literal_error":
        return f"must be {context['expected']}, not {shown(value)}", ""
    if sort in _RANGE or wanted in ("an integer", "a number"):
        return f"must be {_number_wanted(field, wanted)}, not {shown(value)}", ""
    if wanted is not None:
        return f"must be {wanted}, not {shown(value)}", _value_hint(wanted, value)
    if sort == "string_pattern_mismatch":
        return f"{shown(value)} does not match {context['pattern']}", "use only what the pattern allows"
    if sort in ("string_too_short", "too_short"):
        return "must not be empty", ""
    if sort == "string_too_long":
        return f"is longer than {context['max_length']} characters", "shorten it"
    return detail["msg"][:1].lower() + detail["msg"][1:], ""


def _value_hint(wanted: str, value: Any) -> str:
    if wanted == "a string" and isinstance(value, int | float):
        return "put it in quotes"
    if wanted == "true or false" and isinstance(value, str) and value.lower() in _TRUTH:
        return f"write {_TRUTH[value.lower()]}, without quotes"
    return ""


def shown(value: Any) -> str:
    """``value`` as a message shows it, in JSON's words, cut to one short line."""
    if isinstance(value, str):
        return repr(str(value))
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and value.bit_length() > 200:
        return "a huge integer"
    return json.dumps(value, default=repr)


def _number_wanted(field: FieldInfo | None, wanted: str | None) -> str:
    metadata = [] if field is None else [*field.metadata, *_limits(field.annotation)]
    low = next((m.ge for m in metadata if hasattr(m, "ge")), None)
    high = next((m.le for m in metadata if hasattr(m, "le")), None)
    whole = wanted == "an integer" or (field is not None and int in _alternatives(field.annotation))
    word = "an integer" if whole else "a number"
    if low is not None and high is not None:
        return f"{word} from {low} to {high}"
    return f"{word} of at least {low}" if low is not None else word


def _limits(annotation: Any) -> Iterator[Any]:
    """The limits that the members of a union carry."""
    if hasattr(annotation, "__metadata__"):
        for item in annotation.__metadata__:
            yield from item.metadata if isinstance(item, FieldInfo) else ()
    if get_origin(annotation) in (Union, UnionType):
        for member in get_args(annotation):
            yield from _limits(member)


def _key_hint(key: str, known: Sequence[str]) -> str:
    meant = {name.replace("_", "").lower(): name for name in known}
    if (same := meant.get(key.replace("_", "").replace("-", "").lower())) is not None:
        return f"did you mean {same!r}?"
    return nearest(key, known)


def _known_keys(model: type[BaseModel], location: Path) -> list[str]:
    target = _model_at(model, location)
    if target is None:
        return []
    return [_key_of(name, field) for name, field in target.model_fields.items()]


def _key_of(name: str, field: FieldInfo) -> str:
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return str(alias.choices[0])
    return alias if isinstance(alias, str) else name


def _keys_of(name: str, field: FieldInfo) -> set[str]:
    alias = field.validation_alias
    choices = {str(choice) for choice in alias.choices} if isinstance(alias, AliasChoices) else set[str]()
    return {name, _key_of(name, field), *choices}


def _field(model: type[BaseModel], location: Path) -> FieldInfo | None:
    for end in range(len(location), 0, -1):
        parent = _model_at(model, location[: end - 1])
        if parent is None:
            continue
        for name, field in parent.model_fields.items():
            if location[end - 1] in _keys_of(name, field):
                return field
    return None


def _model_at(model: type[BaseModel], location: Path) -> type[BaseModel] | None:
    """The model that validates what stands at ``location`` inside ``model``, if one does."""
    annotation: Any = model
    for part in location:
        annotation = _inside(annotation, part)
    return next((a for a in _alternatives(annotation) if _is_model(a)), None)


def _inside(annotation: Any, part: str | int) -> Any:
    for alternative in _alternatives(annotation):
        if _is_model(alternative):
            if issubclass(alternative, RootModel):
                return _inside(alternative.model_fields["root"].annotation, part)
            fields = cast("dict[str, FieldInfo]", alternative.model_fields)
            return next((f.annotation for n, f in fields.items() if part in _keys_of(n, f)), None)
        if get_origin(alternative) in (dict, list, tuple):
            arguments = get_args(alternative)
            return arguments[1] if get_origin(alternative) is dict else arguments[0]
    return None


def _alternatives(annotation: Any) -> list[Any]:
    """The members of a union, else the annotation itself; ``Annotated`` is looked through."""
    if hasattr(annotation, "__metadata__"):
        return _alternatives(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [inner for member in get_args(annotation) for inner in _alternatives(member)]
    return [annotation]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
