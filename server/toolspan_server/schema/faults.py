"""Validation errors of pydantic's core as messages with allowed ranges, nearest known keys and positions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..common.did_you_mean import nearest
from ..problems import Fault, Faulty, Path
from .core_schemas import (
    HasCoreSchema,
    Shape,
    keys_at,
    shapes_of,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails, ValidationError

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
_MOST_FAULTS = 200
_RANGE = ("greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number")


class InvalidRecord(ValueError):
    """A part of the data does not fit ``model``, chosen by the part's ``type``; ``error`` has the details."""

    def __init__(self, model: type[HasCoreSchema], error: ValidationError) -> None:
        super().__init__(str(error))
        self.model = model
        self.error = error


def faults_of(error: ValidationError, model: type[HasCoreSchema], prefix: Path = ()) -> Iterator[Fault]:
    """Every fault of ``error``, which ``model`` raised; paths start with ``prefix``.

    Beyond two hundred, faults are only counted.
    """
    details = error.errors(include_url=False)
    for detail in details[:_MOST_FAULTS]:
        if detail["type"] != "too_short" or not _has_faults_inside(detail, details):
            yield from _faults(detail, model, prefix)
    if (more := len(details) - _MOST_FAULTS) > 0:
        yield Fault(prefix, f"{more:,} more faults are not shown", "correct the reported ones first")


def _has_faults_inside(detail: ErrorDetails, details: Sequence[ErrorDetails]) -> bool:
    """Whether a list was reported as empty only because all of its items are invalid."""
    place = detail["loc"]
    return any(other["loc"][: len(place)] == place and other is not detail for other in details)


def _faults(detail: ErrorDetails, model: type[HasCoreSchema], prefix: Path) -> Iterator[Fault]:
    location, sort = tuple(detail["loc"]), detail["type"]
    on_key = location[-1:] == ("[key]",)
    path = (*prefix, *(location[:-1] if on_key else location))
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, InvalidRecord):
        yield from faults_of(cause.error, cause.model, path)
    elif isinstance(cause, Faulty):
        yield from (Fault((*path, *f.path), f.message, f.hint, f.on_key) for f in cause.faults)
    elif sort == "missing":
        yield Fault(path[:-1], f"{str(path[-1])!r} is missing", f"add {path[-1]}")
    elif sort == "extra_forbidden":
        known = keys_at(model, location[:-1])
        yield Fault(path, f"unknown key {str(path[-1])!r}", _key_hint(str(path[-1]), known), on_key=True)
    elif cause is not None:
        yield Fault(path, str(cause), on_key=on_key)
    else:
        yield Fault(path, *_wrong_value(detail, shapes_of(model, location)), on_key=on_key)


def _wrong_value(detail: ErrorDetails, shapes: Sequence[Shape]) -> tuple[str, str]:
    sort, context, value = detail["type"], detail.get("ctx", {}), detail["input"]
    wanted = _WANTED.get(sort.split("_")[0]) if sort.endswith(("_type", "_parsing")) else None
    if sort == "int_from_float":
        wanted = _WANTED["int"]
    if sort == "literal_error":
        return f"must be {context['expected']}, not {shown(value)}", ""
    if sort in _RANGE or wanted in ("an integer", "a number"):
        return f"must be {_number_wanted(shapes, wanted)}, not {shown(value)}", ""
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
    """``value`` as JSON for a message, cut to one short line."""
    if isinstance(value, str):
        return repr(str(value))
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and value.bit_length() > 200:
        return "a huge integer"
    return json.dumps(value, default=repr)


def _number_wanted(shapes: Sequence[Shape], wanted: str | None) -> str:
    low = next((shape["ge"] for shape in shapes if "ge" in shape), None)
    above = next((shape["gt"] for shape in shapes if "gt" in shape), None)
    high = next((shape["le"] for shape in shapes if "le" in shape), None)
    whole = wanted == "an integer" or any(shape["type"] == "int" for shape in shapes)
    word = "an integer" if whole else "a number"
    if low is not None and high is not None:
        return f"{word} from {low} to {high}"
    if above is not None and high is not None:
        return f"{word} above {above}, at most {high}"
    return f"{word} of at least {low}" if low is not None else word


def _key_hint(key: str, known: Sequence[str]) -> str:
    meant = {name.replace("_", "").lower(): name for name in known}
    if (same := meant.get(key.replace("_", "").replace("-", "").lower())) is not None:
        return f"did you mean {same!r}?"
    return nearest(key, known)
