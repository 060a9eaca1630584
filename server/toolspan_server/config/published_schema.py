"""The JSON Schema of the config file, generated from the models, for editors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from inspect import cleandoc
from typing import Any

from ..engines.parameters._safe_schema import DIALECT
from ..parts.kind import KINDS
from ..parts.search_engine import SEARCH_ENGINES
from ..parts.source import SOURCES
from ..schema.constraints import Shape
from ..schema.deferred import deferred_record
from ..schema.records import Key, Record
from .models.config import Config

_LIMITS = {
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
}
_SIMPLE = {"bool": "boolean", "float": "number", "int": "integer", "str": "string"}
_REFERENCE = {"type": "string", "pattern": r"\$\{"}


def config_schema() -> dict[str, Any]:
    """The JSON Schema 2020-12 of a config file; ``implementation`` is one of all kinds, by its ``type``."""
    definitions: dict[str, Any] = {}
    root = _object(Config, definitions)
    definitions["Implementation"] = _one_of(
        "What runs when the tool is called; `type` names the kind.",
        {f"{kind}_implementation": (kind, KINDS.config(kind)) for kind in KINDS.names},
        definitions,
    )
    definitions["Source"] = _one_of(
        "Where many tools come from; `type` says how.",
        {f"{name}_source": (name, SOURCES.config(name)) for name in SOURCES.names},
        definitions,
    )
    definitions["SearchEngine"] = _one_of(
        "The web search engine that is asked; `type` names it.",
        {f"{name}_engine": (name, SEARCH_ENGINES.config(name)) for name in SEARCH_ENGINES.names},
        definitions,
    )
    definitions["McpServerConfig"]["oneOf"] = _one_way()
    definitions["ToolConfig"]["properties"]["parameters"].update(
        required=["type"], properties={"type": {"const": "object"}}
    )
    return {
        "$schema": DIALECT,
        "title": "Toolspan config",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def config_schema_text() -> str:
    """``config_schema`` as the text of ``configs/toolspan.schema.json``."""
    return json.dumps(config_schema(), indent=2, ensure_ascii=False) + "\n"


def record_schema(record: type[Record]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of ``record``, and the definitions that it refers to, by their names."""
    definitions: dict[str, Any] = {}
    return _object(record, definitions), definitions


def _one_of(
    description: str, choices: Mapping[str, tuple[str, type[Record]]], definitions: dict[str, Any]
) -> dict[str, Any]:
    """A choice of ``choices`` (definition's name → value of ``type``, record), added to ``definitions``."""
    for name, (_, record) in choices.items():
        written = definitions[name] = _object(record, definitions)
        written["required"] = ["type", *written.get("required", ())]
    places = {name: f"#/$defs/{name}" for name in choices}
    return {
        "description": description,
        "oneOf": [{"$ref": place} for place in places.values()],
        "discriminator": {
            "propertyName": "type",
            "mapping": {choices[name][0]: place for name, place in places.items()},
        },
    }


def _one_way() -> list[dict[str, Any]]:
    urls = ("url", "serverUrl", "server_url", "httpUrl", "http_url")
    return [{"required": ["command"]}, {"anyOf": [{"required": [url]} for url in urls]}]


def _object(record: type[Record], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of ``record``; nested records are added to ``definitions``."""
    shape = _unwrapped(record.__pydantic_core_schema__)
    written: dict[str, Any] = {"description": _markdown(record.__doc__ or "")}
    if shape["root_model"]:
        return written | _schema(shape["schema"], definitions)
    required = [_names(name, each) for name, each in record.model_fields.items() if each.required]
    properties: dict[str, Any] = {}
    for name, each in record.model_fields.items():
        first, *others = _names(name, each)
        properties[first] = _property(each, definitions)
        again = {**properties[first], "description": f"Another spelling of `{first}`."}
        properties |= dict.fromkeys(others, again)
    written |= {"type": "object", "properties": properties}
    if alone := [names[0] for names in required if len(names) == 1]:
        written["required"] = alone
    if spelled := [names for names in required if len(names) > 1]:
        written["allOf"] = [{"anyOf": [{"required": [name]} for name in names]} for names in spelled]
    if shape["config"]["extra_fields_behavior"] == "forbid":
        written["additionalProperties"] = False
    return written


def _names(name: str, key: Key) -> Sequence[str]:
    """What the key is called in the data, the first being the one for messages."""
    return key.spellings or (name,)


def _property(key: Key, definitions: dict[str, Any]) -> dict[str, Any]:
    written = _schema(key.shape, definitions)
    if description := key.description or _about(key.shape):
        written["description"] = _markdown(description)
    if key.hidden:
        written["writeOnly"] = True
    if not key.required and key.factory is None and key.default is not None:
        written["default"] = json.loads(json.dumps(key.default))
    return written


def _about(shape: Shape) -> str:
    """The description of a key from its record, where the key has none."""
    return getattr(deferred_record(shape.get("schema", shape)), "about", "")


def _schema(shape: Shape, definitions: dict[str, Any]) -> dict[str, Any]:
    if "definition" in shape.get("metadata", {}):
        return {"$ref": f"#/$defs/{shape['metadata']['definition']}"}
    if (record := deferred_record(shape)) is not None:
        return _record(record, definitions)
    if "reference" in shape.get("metadata", {}):
        return {"anyOf": [_schema(shape["schema"], definitions), _REFERENCE]}
    if "text" in shape.get("metadata", {}):
        return {"anyOf": [_schema(shape["schema"], definitions), {"type": "string"}]}
    if "flag" in shape.get("metadata", {}):
        return {"anyOf": [*_schema(shape["schema"], definitions)["anyOf"], {"type": "boolean"}]}
    return _WRITERS[shape["type"]](shape, definitions)


def _simple(shape: Shape, _definitions: dict[str, Any]) -> dict[str, Any]:
    limits = {ours: shape[theirs] for theirs, ours in _LIMITS.items() if theirs in shape}
    return {"type": _SIMPLE[shape["type"]], **limits}


def _choice(shape: Shape, _definitions: dict[str, Any]) -> dict[str, Any]:
    values = shape["expected"]
    kind = {"type": "integer" if isinstance(values[0], int) else "string"}
    return {**kind, "enum": values} if len(values) > 1 else {**kind, "const": values[0]}


def _list(shape: Shape, definitions: dict[str, Any]) -> dict[str, Any]:
    least = {"minItems": shape["min_length"]} if "min_length" in shape else {}
    return {"type": "array", "items": _schema(shape["items_schema"][0], definitions), **least}


def _named(shape: Shape, definitions: dict[str, Any]) -> dict[str, Any]:
    names, values = (_schema(shape[part], definitions) for part in ("keys_schema", "values_schema"))
    if "pattern" in names:
        return {"type": "object", "patternProperties": {names["pattern"]: values}}
    return {"type": "object", "additionalProperties": values or True}


def _nullable(shape: Shape, definitions: dict[str, Any]) -> dict[str, Any]:
    inner = _schema(shape["schema"], definitions)
    return {"anyOf": [*inner.get("anyOf", [inner]), {"type": "null"}]}


def _record(record: type[Record], definitions: dict[str, Any]) -> dict[str, Any]:
    name = _definition(record)
    if name not in definitions:
        definitions[name] = {}
        definitions[name] = _object(record, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _definition(record: type[Record]) -> str:
    package, module = record.__module__.split(".")[-2:]
    return f"{module}_service" if package == "services" and record.__name__ == "Config" else record.__name__


def _unwrapped(shape: Shape) -> Shape:
    return shape if shape["type"] == "model" else _unwrapped(shape["schema"])


def _markdown(text: str) -> str:
    return cleandoc(text).replace("``", "`")


_WRITERS: Mapping[str, Callable[[Shape, dict[str, Any]], dict[str, Any]]] = {
    "any": lambda _shape, _definitions: {},
    "dict": _named,
    "function-before": lambda shape, definitions: _schema(shape["schema"], definitions),
    "function-after": lambda shape, definitions: _schema(shape["schema"], definitions),
    "literal": _choice,
    "model": lambda shape, definitions: _record(shape["cls"], definitions),
    "nullable": _nullable,
    "tuple": _list,
    **dict.fromkeys(_SIMPLE, _simple),
}
