"""Errors of JSON Schema validation as messages for the model that made the call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..common.json_values import dotted, shortened

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

MAX_FAULTS = 20
_MAX_OPTIONS = 100
_WITH_ARTICLE = {
    "array": "an array",
    "boolean": "a boolean",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}


class ValueNames(NamedTuple):
    """How messages call the validated value (``whole``) and a member of it."""

    whole: str = "the arguments together"
    member: str = "parameter"


ARGUMENTS = ValueNames()


def fault_messages(errors: Iterable[ValidationError], names: ValueNames = ARGUMENTS) -> list[str]:
    """A message for each error, without repetition; beyond ``MAX_FAULTS`` only the number of the others."""
    return limited(fault for error in errors for fault in faults_of(error, names))


def limited(found: Iterable[str]) -> list[str]:
    """Each fault once; beyond ``MAX_FAULTS`` only the number of the others."""
    faults = list(dict.fromkeys(found))
    if len(faults) > MAX_FAULTS:
        faults[MAX_FAULTS:] = [f"and {len(faults) - MAX_FAULTS} more"]
    return faults


def first_faults(faults: Iterable[str]) -> list[str]:
    """The first ``MAX_FAULTS``, each once, and whether there are more."""
    found: dict[str, None] = {}
    for fault in faults:
        if len(found) == MAX_FAULTS and fault not in found:
            return [*found, "and more"]
        found[fault] = None
    return list(found)


def type_name(value: Any) -> str:
    """``a string``, ``an integer`` …: the JSON type of a value."""
    for python, name in (
        (bool, "boolean"),
        (str, "string"),
        (int, "integer"),
        (float, "number"),
        (dict, "object"),
    ):
        if isinstance(value, python):
            return _WITH_ARTICLE[name]
    return "null" if value is None else "an array"


def subject_of(path: Sequence[str | int], names: ValueNames) -> str:
    """The subject of a fault's message: the path, or the name of the whole value."""
    return f"'{dotted(path)}'" if path else names.whole


def faults_of(error: ValidationError, names: ValueNames, at: Sequence[str | int] = ()) -> Iterator[str]:
    """The messages for ``error``; ``at`` is the path of the validated value."""
    path = [*at, *error.instance_path]
    keyword = type(error.kind).__name__.removeprefix("ValidationErrorKind_")
    value = cast("Any", error.kind)
    if keyword == "Required":
        yield f"missing '{dotted([*path, value.property])}'"
    elif keyword in {"AdditionalProperties", "UnevaluatedProperties"}:
        for name in value.unexpected:
            yield f"unknown {names.member} '{dotted([*path, name])}'"
    else:
        yield f"{subject_of(path, names)} {_must(error, keyword, names, at)}"


def _must(error: ValidationError, keyword: str, names: ValueNames, at: Sequence[str | int]) -> str:
    word = _WORDS.get(keyword)
    if word is not None:
        return word(cast("Any", error.kind))
    if keyword == "Type":
        return _type_fault(cast("Any", error.kind).types, error.instance)
    if keyword in {"AnyOf", "OneOfNotValid"}:
        return _alternatives(error, names, at)
    if keyword == "PropertyNames":
        inner: ValidationError = cast("Any", error.kind).error
        return f"must not have the name '{shortened(str(inner.instance), 80)}'"
    return f"does not fit the schema's {error.kind.name!r}"


def _type_fault(types: Sequence[str], value: Any) -> str:
    names = [_WITH_ARTICLE[name] for name in sorted(types, key="null".__eq__)]
    return f"must be {' or '.join(names)} (got {type_name(value)})"


def _alternatives(error: ValidationError, names: ValueNames, at: Sequence[str | int]) -> str:
    """One message for several branches: only their types, if the type is all that is wrong."""
    branches: list[list[ValidationError]] = cast("Any", error.kind).context
    single = [
        branch[0]
        for branch in branches
        if len(branch) == 1 and branch[0].instance_path == error.instance_path
    ]
    if len(single) == len(branches) and all(type(one.kind).__name__.endswith("Type") for one in single):
        types = dict.fromkeys(name for one in single for name in cast("Any", one.kind).types)
        return _type_fault(list(types), error.instance)
    texts = [
        " and ".join(next(faults_of(one, names, at)) for one in branch[:3])
        for branch in branches[:4]
        if branch
    ]
    return "fits none of its forms (" + "; or ".join(shortened(text, 300) for text in texts) + ")"


def _option(value: Any) -> str:
    """An enum's option: without quotes when that is unambiguous."""
    plain = isinstance(value, str) and value.isprintable() and value.strip() == value and "," not in value
    if plain and value and not _looks_like_json(value):
        return shortened(value, 100)
    return shortened(json.dumps(value, ensure_ascii=False), 100)


def _looks_like_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _options(kind: Any) -> str:
    texts = [_option(option) for option in kind.options[:_MAX_OPTIONS]]
    if len(kind.options) > _MAX_OPTIONS:
        texts.append(f"and {len(kind.options) - _MAX_OPTIONS} more")
    return "must be one of: " + ", ".join(texts)


def _count(limit: int, noun: str) -> str:
    return f"{limit} {noun}" if limit == 1 else f"{limit} {noun}s"


_WORDS: dict[str, Callable[[Any], str]] = {
    "Enum": _options,
    "Constant": lambda kind: f"must be {_option(kind.expected_value)}",
    "Contains": lambda _: "must have the right number of items that fit the schema's 'contains'",
    "ContentEncoding": lambda kind: f"must be {kind.content_encoding} text",
    "ContentMediaType": lambda kind: f"must be of the media type {kind.content_media_type}",
    "FalseSchema": lambda _: "is not allowed",
    "Format": lambda kind: f"must be a valid {kind.format}",
    "Pattern": lambda kind: f"must match the pattern {shortened(kind.pattern, 200)}",
    "BacktrackLimitExceeded": lambda _: "could not be matched with its pattern within the limit of steps",
    "Minimum": lambda kind: f"must be at least {kind.limit}",
    "Maximum": lambda kind: f"must be at most {kind.limit}",
    "ExclusiveMinimum": lambda kind: f"must be greater than {kind.limit}",
    "ExclusiveMaximum": lambda kind: f"must be less than {kind.limit}",
    "MultipleOf": lambda kind: f"must be a multiple of {kind.multiple_of}",
    "MinLength": lambda kind: f"must have at least {_count(kind.limit, 'character')}",
    "MaxLength": lambda kind: f"must have at most {_count(kind.limit, 'character')}",
    "MinItems": lambda kind: f"must have at least {_count(kind.limit, 'item')}",
    "MaxItems": lambda kind: f"must have at most {_count(kind.limit, 'item')}",
    "AdditionalItems": lambda kind: f"must have at most {_count(kind.limit, 'item')}",
    "UnevaluatedItems": lambda _: "has items that the schema does not allow",
    "UniqueItems": lambda _: "must not hold the same item twice",
    "MinProperties": lambda kind: f"must have at least {_count(kind.limit, 'field')}",
    "MaxProperties": lambda kind: f"must have at most {_count(kind.limit, 'field')}",
    "Not": lambda _: "has a form that the schema excludes",
    "OneOfMultipleValid": lambda _: "fits more than one of the forms of which it must fit exactly one",
}
