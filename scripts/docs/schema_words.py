"""What a JSON Schema of the config file says of a value, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
Link = Callable[[str], str]
"""The Markdown that stands for a definition, by its name."""

_VARIABLE = {"type": "string", "pattern": r"\$\{"}
_NULL = {"type": "null"}
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "minItems": "at least {} of them",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "matching `{}`",
}


def slug(title: str) -> str:
    """The anchor of a heading, the same in the site and in a Markdown viewer."""
    return re.sub(r"[^\w\s-]", "", title).strip().lower().replace(" ", "-")


def references(schema: Schema) -> Iterator[tuple[str, str]]:
    """Where in a value which definitions stand: ``("[]", "ToolConfig")`` for a list of tools."""
    if "$ref" in schema:
        yield "", schema["$ref"].rpartition("/")[2]
    for choice in schema.get("anyOf", ()):
        yield from references(choice)
    for entry, place in _entries(schema):
        for inner, name in references(entry):
            yield place + inner, name


def words(schema: Schema, link: Link) -> str:
    """The type of a value, and its bounds: ``list of integer, at least 1``."""
    if "$ref" in schema:
        return link(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return _choice(schema["anyOf"], link)
    if "enum" in schema:
        return "one of " + ", ".join(code(value) for value in schema["enum"])
    if "const" in schema:
        return code(schema["const"])
    return ", ".join([_type(schema, link), *_bounds(schema)])


def code(value: Any) -> str:
    """``value`` as JSON, in Markdown."""
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def _choice(choices: list[Schema], link: Link) -> str:
    said = [words(each, link) for each in choices if each not in (_VARIABLE, _NULL)]
    if _VARIABLE in choices:
        said.append("`${VAR}`")
    comma = "," if any("," in each for each in said) else ""
    return f"{comma} or ".join(dict.fromkeys(said))


def _type(schema: Schema, link: Link) -> str:
    for entry, place in _entries(schema):
        kind = "list of" if place == "[]" else "map of names to"
        return f"{kind} {words(entry, link)}"
    kind: str = schema.get("type", "any value")
    return "list" if kind == "array" else kind


def _entries(schema: Schema) -> Iterator[tuple[Schema, str]]:
    """What a list or a map holds, and how its place is written."""
    if isinstance(items := schema.get("items"), Mapping):
        yield items, "[]"
    for values in (*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")):
        if isinstance(values, Mapping):
            yield values, ".NAME"


def _bounds(schema: Schema) -> Iterator[str]:
    said = {keyword: schema[keyword] for keyword in _BOUNDS if keyword in schema}
    if said.get("minLength") == 1:
        del said["minLength"]
        yield "not empty"
    if "minimum" in said and "maximum" in said:
        yield f"{said.pop('minimum')} to {said.pop('maximum')}"
    for keyword, bound in said.items():
        yield _BOUNDS[keyword].format(bound)
