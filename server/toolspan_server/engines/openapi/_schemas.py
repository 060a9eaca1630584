"""Schemas of a description as JSON Schema 2020-12, with what they refer to under ``$defs``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from ._description import Description, list_at, object_at
from ._errors import UnusableOperation

MAX_PARTS = 5_000
"""Most schemas that one tool's parameters are made of."""

MAX_DEPTH = 32
"""How deep they stand in each other."""

_NAMED = ("properties", "patternProperties", "dependentSchemas")
_SINGLE = ("additionalProperties", "unevaluatedProperties", "propertyNames", "items", "unevaluatedItems")
_SINGLE_MORE = ("contains", "not", "if", "then", "else", "contentSchema")
_LISTED = ("allOf", "anyOf", "oneOf", "prefixItems")
# fmt: off
_KEPT = frozenset((
    "title", "description", "type", "enum", "const", "default", "examples", "deprecated",
    "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
    "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxProperties", "minProperties",
    "required", "dependentRequired", "format", "contentMediaType", "contentEncoding", "maxContains",
    "minContains",
))
# fmt: on
_LONGEST_TEXT = 2_000
_TYPES = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))

Way = Literal["in", "out"]


class Schemas:
    """Converts the schemas of one tool. ``in`` leaves out what is read-only, ``out`` what is write-only.

    ``definitions`` fills with what they refer to; a schema that refers to itself stays a reference.
    """

    def __init__(self, description: Description, way: Way) -> None:
        self._description = description
        self._hidden = "readOnly" if way == "in" else "writeOnly"
        self._names: dict[str, str] = {}
        self._parts = 0
        self.definitions: dict[str, Any] = {}

    def converted(self, schema: Any, depth: int = 0) -> Any:
        """``schema`` as JSON Schema 2020-12. Raises ``UnusableOperation``."""
        if isinstance(schema, bool):
            return schema
        self._parts += 1
        if self._parts > MAX_PARTS or depth > MAX_DEPTH:
            raise UnusableOperation("its schemas are too large or nested too deep")
        given = object_at(schema)
        written: dict[str, Any] = {}
        if isinstance(given.get("$ref"), str):
            written["$ref"] = f"#/$defs/{self._definition(given['$ref'])}"
            if self._description.legacy:
                return written
        written |= {name: value for name, value in given.items() if name in _KEPT}
        self._nested(given, written, depth + 1)
        _tidy(given, written)
        return _or_null(written) if given.get("nullable") is True else written

    def _nested(self, given: Mapping[str, Any], written: dict[str, Any], depth: int) -> None:
        for keyword in _NAMED:
            if keyword in given:
                parts = object_at(given[keyword]).items()
                shown = {name: part for name, part in parts if object_at(part).get(self._hidden) is not True}
                written[keyword] = {name: self.converted(part, depth) for name, part in shown.items()}
                if keyword == "properties" and "required" in written:
                    gone = dict(parts).keys() - shown.keys()
                    written["required"] = [name for name in list_at(given["required"]) if name not in gone]
        for keyword in (*_SINGLE, *_SINGLE_MORE):
            if isinstance(given.get(keyword), dict | bool):
                written[keyword] = self.converted(given[keyword], depth)
        for keyword in _LISTED:
            if parts_given := list_at(given.get(keyword)):
                written[keyword] = [self.converted(part, depth) for part in parts_given]

    def _definition(self, reference: str) -> str:
        """The name under ``$defs`` of what ``reference`` leads to, which is converted at the first time."""
        if reference in self._names:
            return self._names[reference]
        target = self._description.target(reference)
        plain = re.sub(r"[^A-Za-z0-9_.-]", "_", reference.rpartition("/")[2])[:64] or "schema"
        name, number = plain, 2
        while name in self.definitions:
            name, number = f"{plain}_{number}", number + 1
        self._names[reference] = name
        self.definitions[name] = {}
        self.definitions[name] = self.converted(target)
        return name


def _tidy(given: Mapping[str, Any], written: dict[str, Any]) -> None:
    """The keywords of OpenAPI 3.0 that differ from JSON Schema's, or do not exist there."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(written.get(exclusive), bool) and written.pop(exclusive) and bound in written:
            written[exclusive] = written.pop(bound)
    if "example" in given and "examples" not in written:
        written["examples"] = [given["example"]]
    if not isinstance(written.get("examples", []), list):
        del written["examples"]
    if not list_at(written.get("required")):
        written.pop("required", None)
    if written.get("type") == "file" or given.get("format") in ("binary", "byte"):
        written.pop("format", None)
        written |= {"type": "string", "contentEncoding": "base64"}
    if "contentEncoding" not in written and _is_binary(written.get("contentMediaType")):
        written |= {"contentEncoding": "base64"}
    if isinstance(written.get("type"), str) and written["type"] not in _TYPES:
        del written["type"]
    for name in ("title", "description"):
        if isinstance(written.get(name), str):
            written[name] = cut(written[name])


def _is_binary(media_type: Any) -> bool:
    """Whether what JSON Schema calls the content of a text is no text: a file, as OpenAPI 3.1 writes it."""
    plain = media_type.partition(";")[0].strip().lower() if isinstance(media_type, str) else "text/plain"
    return not (plain.startswith("text/") or plain.endswith(("json", "xml", "yaml", "x-www-form-urlencoded")))


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema``, or null (``nullable: true``)."""
    kind = schema.get("type")
    if isinstance(kind, str) and not any(keyword in schema for keyword in (*_LISTED, "$ref", "const")):
        more = {"enum": [*schema["enum"], None]} if None not in list_at(schema.get("enum", [None])) else {}
        return {**schema, "type": [kind, "null"], **more}
    return {"anyOf": [schema, {"type": "null"}]}


def cut(text: str, limit: int = _LONGEST_TEXT) -> str:
    """``text``, its end left out when it is longer than ``limit``."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
