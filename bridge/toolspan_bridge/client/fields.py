"""The fields of a form that a server asks a person to fill in (MCP, client/elicitation, requested schema)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from toolspan_server.schema.json_schema_faults import ValueNames, fault_messages

MAX_FIELDS = 50
MAX_CHOICES = 200
_NAMES = ValueNames(whole="the form", member="field")
_KEYWORDS = (
    "type",
    "enum",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
)
_TRUE = frozenset({"y", "yes", "true", "1"})
_FALSE = frozenset({"n", "no", "false", "0"})

FieldKind = Literal["text", "integer", "number", "boolean", "choice", "choices"]
"""``choice`` is one of several values, ``choices`` any number of them."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that can be chosen, and the title that people see."""

    value: str
    title: str


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of a form. ``schema`` is its JSON Schema; ``default`` is ``None`` where it has none."""

    name: str
    kind: FieldKind
    schema: Mapping[str, Any]
    required: bool = False
    title: str = ""
    description: str = ""
    default: Any = None
    choices: tuple[Choice, ...] = field(default=())

    def read(self, text: str) -> Any:
        """The value that a person's ``text`` stands for, by the field's kind; choices go by number, value or
        title, several with commas. Raises ``ValueError``, whose text says what is wanted."""
        value = self._value(text.strip() if self.kind != "text" else text)
        if faults := self.faults(value):
            raise ValueError("; ".join(faults))
        return value

    def faults(self, value: Any) -> list[str]:
        """What is wrong with ``value``, for the person to correct."""
        schema = {"type": "object", "properties": {self.name: dict(self.schema)}}
        return _schema_faults(schema, {self.name: value})

    def written(self, value: Any) -> str:
        """``value`` as a person would write it."""
        if value is None:
            return ""
        if self.kind == "boolean":
            return "yes" if value is True else "no"
        if isinstance(value, list):
            return ", ".join(str(each) for each in cast("Any", value))
        return str(value)

    def _value(self, text: str) -> Any:
        if self.kind == "text":
            return text
        if self.kind == "boolean":
            return _boolean(text)
        if self.kind in ("integer", "number"):
            return _number(text, whole=self.kind == "integer")
        if self.kind == "choice":
            return self._chosen(text)
        parts = [part.strip() for part in text.split(",")]
        return [self._chosen(part) for part in parts if part]

    def _chosen(self, text: str) -> str:
        if text.isdecimal() and 1 <= int(text) <= len(self.choices):
            return self.choices[int(text) - 1].value
        for choice in self.choices:
            if text in (choice.value, choice.title):
                return choice.value
        raise ValueError(f"{text!r} is none of the choices: write a number from 1 to {len(self.choices)}")


def read_fields(schema: Mapping[str, Any]) -> tuple[FormField, ...]:
    """The fields of a ``requestedSchema``. Raises ``ValueError`` where it is none."""
    properties: Any = schema.get("properties", {})
    if schema.get("type", "object") != "object" or not isinstance(properties, dict):
        raise ValueError("requestedSchema is no object schema")
    named = cast("dict[str, Any]", properties)
    if len(named) > MAX_FIELDS:
        raise ValueError(f"requestedSchema has more than {MAX_FIELDS} fields")
    required: Any = schema.get("required", ())
    needed: list[Any] = cast("Any", required) if isinstance(required, list) else []
    return tuple(_field(name, entry, name in needed) for name, entry in named.items())


def form_faults(schema: Mapping[str, Any], content: Mapping[str, Any]) -> list[str]:
    """What is wrong with the whole ``content`` of a form of ``schema``."""
    return _schema_faults(schema, dict(content))


def _field(name: str, entry: Any, required: bool) -> FormField:
    if not isinstance(entry, dict):
        raise ValueError(f"the field {name!r} has no schema")
    schema = cast("dict[str, Any]", entry)
    kind, choices = _kind(name, schema)
    if len(choices) > MAX_CHOICES:
        raise ValueError(f"the field {name!r} has more than {MAX_CHOICES} choices")
    title, description = (_text(schema.get(key)) for key in ("title", "description"))
    return FormField(name, kind, schema, required, title, description, schema.get("default"), choices)


def _kind(name: str, schema: Mapping[str, Any]) -> tuple[FieldKind, tuple[Choice, ...]]:
    stated = schema.get("type")
    if stated == "array":
        items: Any = schema.get("items")
        found = _choices(cast("dict[str, Any]", items)) if isinstance(items, dict) else ()
        if not found:
            raise ValueError(f"the field {name!r} is a list of something that cannot be chosen")
        return "choices", found
    if found := _choices(schema):
        return "choice", found
    kinds: dict[Any, FieldKind] = {
        "string": "text",
        "integer": "integer",
        "number": "number",
        "boolean": "boolean",
    }
    if stated not in kinds:
        raise ValueError(f"the field {name!r} is neither text, number, yes or no, nor a choice")
    return kinds[stated], ()


def _choices(schema: Mapping[str, Any]) -> tuple[Choice, ...]:
    """The choices of ``enum`` (with ``enumNames``), ``oneOf`` or ``anyOf``."""
    values: Any = schema.get("enum")
    if isinstance(values, list):
        names: Any = schema.get("enumNames")
        titles = cast("Sequence[Any]", names) if isinstance(names, list) else ()
        listed = [str(value) for value in cast("Any", values)]
        return tuple(
            Choice(value, _text(titles[place]) or value if place < len(titles) else value)
            for place, value in enumerate(listed)
        )
    titled: Any = schema.get("oneOf") or schema.get("anyOf")
    entries: list[Any] = cast("Any", titled) if isinstance(titled, list) else []
    found = [cast("dict[str, Any]", entry) for entry in entries if isinstance(entry, dict)]
    return tuple(
        Choice(str(entry["const"]), _text(entry.get("title")) or str(entry["const"]))
        for entry in found
        if "const" in entry
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _boolean(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError("write yes or no")


def _number(text: str, *, whole: bool) -> int | float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if number != number or number in (float("inf"), float("-inf")) or (whole and not number.is_integer()):
        raise ValueError("write a whole number" if whole else "write a number")
    if whole:
        return int(text) if text.lstrip("+-").isdecimal() else int(number)
    return number


def _schema_faults(schema: Mapping[str, Any], content: dict[str, Any]) -> list[str]:
    """The faults of ``content`` by the keywords of forms; others, as references, are not read."""
    import jsonschema_rs

    properties = cast("dict[str, Any]", schema.get("properties") or {})
    known = {
        "type": "object",
        "properties": {name: _plain(entry) for name, entry in properties.items()},
        "required": [name for name in cast("Any", schema.get("required") or []) if name in properties],
    }
    try:
        validator = jsonschema_rs.Draft202012Validator(
            known, validate_formats=True, offline=True, pattern_options=jsonschema_rs.RegexOptions()
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return []  # what is no schema rules nothing out; the server decides
    return fault_messages(validator.iter_errors(content), _NAMES)


def _plain(entry: Any) -> dict[str, Any]:
    schema = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    plain = {key: schema[key] for key in _KEYWORDS if key in schema}
    for key in ("oneOf", "anyOf"):
        if key in schema:
            plain["enum"] = [choice.value for choice in _choices(schema)]
    if isinstance(schema.get("items"), dict):
        plain["items"] = _plain(schema["items"])
    return plain
