"""Arguments from a question, by nothing but the tool's schema: types, enums, the words of each parameter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...wire.json_types import is_list, is_object
from ._text import QuestionText
from ._words import (
    STOP_WORDS,
    listed,
    stem,
    stems,
    words,
)

_DEEPEST = 4
_KINDS = {
    "expression": "expression formula equation calculation math mathematical arithmetic",
    "url": "url uri link webpage website",
    "email": "email mail",
    "path": "path file filename filepath directory folder",
    "date": "date day",
    "place": "city location place country address town region destination origin venue area state where loc",
    "topic": "query search question prompt keyword topic text message content term subject phrase title",
    "code": "id code symbol ticker currency identifier number",
}
_KIND_OF = {stem(word): kind for kind, telling in _KINDS.items() for word in listed(telling)}
_FROM = {stem(word) for word in listed("from origin source start departure base")}
_TO = {stem(word) for word in listed("to destination end arrival target")}
_WHERE = ("in", "for", "at", "near", "around", "to", "from", "visit", "visiting", "of", "on")
_NO = frozenset({"no", "not", "without", "disable", "except", "don't"})


@dataclass(slots=True)
class FilledArguments:
    """The arguments; how many of the required ones the text plainly holds, how many were guessed, how many
    are missing."""

    values: dict[str, Any] = field(default_factory=dict[str, Any])
    plain: int = 0
    guessed: int = 0
    missing: int = 0

    @property
    def whole(self) -> bool:
        """Whether nothing was guessed and nothing is missing."""
        return not self.guessed and not self.missing


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    schema: Mapping[str, Any]
    required: bool

    @property
    def type(self) -> str:
        declared = self.schema.get("type", "string" if "enum" not in self.schema else "")
        if is_list(declared):
            return next((str(each) for each in declared if each != "null"), "string")
        return str(declared)

    @property
    def labels(self) -> list[str]:
        return [
            stem(word) for word in words(self.name) if word not in STOP_WORDS or len(words(self.name)) == 1
        ]

    @property
    def description(self) -> str:
        return str(self.schema.get("description", ""))

    @property
    def kind(self) -> str:
        """What the parameter is about, by its ``format``, its name, or such a word of its description."""
        declared = str(self.schema.get("format", ""))
        if declared in ("uri", "url", "email", "date", "date-time"):
            return {"uri": "url", "date-time": "date"}.get(declared, declared)
        kinds = [_KIND_OF[label] for label in reversed(self.labels) if label in _KIND_OF]
        kinds += [_KIND_OF[s] for word in words(self.description) if (s := stem(word)) in _KIND_OF]
        return kinds[0] if kinds else ""


def fill(schema: Mapping[str, Any], text: QuestionText, known: set[str], depth: int = 0) -> FilledArguments:
    """Arguments for ``schema`` out of ``text``. ``known`` are the stems in the tool's own texts.

    Required parameters are always tried; optional ones are filled only where the text is explicit.
    Defaults are left to the schema.
    """
    parameters = _parameters(schema)
    filled = FilledArguments()
    for parameter in sorted(parameters, key=lambda each: not each.required):
        value = _evident(parameter, text, known, depth)
        if value is not None:
            filled.values[parameter.name] = value
            filled.plain += parameter.required
    for parameter in parameters:
        if parameter.required and parameter.name not in filled.values:
            value = _guess(parameter, text, known)
            filled.missing += value is None
            filled.guessed += value is not None
            if value is not None:
                filled.values[parameter.name] = value
    return filled


def takes_arithmetic(schema: Mapping[str, Any]) -> bool:
    """Whether a required parameter is described as a mathematical expression."""
    return any(p.required and p.type == "string" and p.kind == "expression" for p in _parameters(schema))


def _parameters(schema: Mapping[str, Any]) -> list[_Parameter]:
    properties = schema.get("properties")
    required = schema.get("required")
    needed = required if is_list(required) else []
    if not is_object(properties):
        return []
    return [_Parameter(name, _resolved(each, schema), name in needed) for name, each in properties.items()]


def _resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """A property's schema, behind one local reference if it is one."""
    if not is_object(schema):
        return {}
    reference, definitions = schema.get("$ref"), root.get("$defs")
    if isinstance(reference, str) and reference.startswith("#/$defs/") and is_object(definitions):
        target = definitions.get(reference.removeprefix("#/$defs/"))
        return {**target, "$defs": definitions} if is_object(target) else {}
    return schema


def _evident(parameter: _Parameter, text: QuestionText, known: set[str], depth: int) -> Any:
    """The value that the text plainly gives the parameter."""
    if "const" in parameter.schema:
        return parameter.schema["const"] if parameter.required else None
    if is_list(options := parameter.schema.get("enum")):
        return next((option for option in options if text.mentions(str(option))), None)
    match parameter.type:
        case "integer" | "number":
            return _number(parameter, text, _labels(parameter), 4)
        case "boolean":
            return _boolean(parameter, text)
        case "array":
            return _items(parameter, text) if parameter.required else None
        case "object":
            return _object(parameter, text, known, depth)
        case "string":
            return _string(parameter, text, known)
        case _:
            return None


def _guess(parameter: _Parameter, text: QuestionText, known: set[str]) -> Any:
    """The best that is left for a required parameter that the text does not plainly name."""
    options = parameter.schema.get("enum")
    if is_list(options) and options:
        return parameter.schema.get("default", options[0])
    match parameter.type:
        case "integer" | "number":
            return _number(parameter, text, [], 0)
        case "boolean":
            return bool(parameter.schema.get("default", False))
        case "string":
            return text.find_quoted() or text.find_phrase() or text.topic(known) or None
        case _:
            return None


def _labels(parameter: _Parameter) -> list[str]:
    return parameter.labels or sorted(stems(parameter.description))


def _number(parameter: _Parameter, text: QuestionText, labels: list[str], reach: int) -> int | float | None:
    found = text.find_number(labels, reach)
    if found is None or parameter.type == "number":
        return found
    return int(found) if found == int(found) else None


def _boolean(parameter: _Parameter, text: QuestionText) -> bool | None:
    for label in parameter.labels:
        if (before := text.word_before(label)) is not None:
            return before not in _NO
    return None


def _items(parameter: _Parameter, text: QuestionText) -> list[Any] | None:
    items = _resolved(parameter.schema.get("items", {}), parameter.schema)
    options = items.get("enum")
    found: list[Any]
    if is_list(options):
        found = [option for option in options if text.mentions(str(option))]
    elif items.get("type") in ("integer", "number"):
        found = list(text.find_numbers())
    elif items.get("type", "string") == "string":
        found = _all(text.find_quoted) or _all(text.find_phrase)
    else:
        found = []
    return found or None


def _all(find: Any) -> list[str]:
    return list(iter(find, None))


def _object(parameter: _Parameter, text: QuestionText, known: set[str], depth: int) -> dict[str, Any] | None:
    if depth >= _DEEPEST or not parameter.required:
        return None
    return fill(parameter.schema, text, known, depth + 1).values or None


def _string(parameter: _Parameter, text: QuestionText, known: set[str]) -> str | None:
    kind = parameter.kind
    if kind == "expression" and text.arithmetic:
        return text.arithmetic
    if kind in ("url", "email", "path", "date") and (found := text.find_shape(kind)):
        return found
    if found := text.find_labelled(parameter.labels) or text.find_labelled(parameter.labels[-1:]):
        return found
    if kind == "code":
        return text.find_shape(kind)
    if kind == "place":
        return _place(parameter, text)
    if kind == "topic" and parameter.required:
        return text.find_quoted() or text.topic(known) or None
    return None


def _place(parameter: _Parameter, text: QuestionText) -> str | None:
    names = set(parameter.labels)
    if names & _FROM:
        return text.find_after(("from",))
    if names & _TO:
        return text.find_after(("to",))
    return text.find_after(_WHERE) if parameter.required else None
