"""The JSON Schema of the config file, generated from the models, for editors."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from typing_extensions import override

from ..kinds import kind_config, kind_names
from ._models import Config
from ._parameters import DIALECT
from ._sources import SERVER_KEYS

_KIND = re.compile(r".*kinds__(\w+)__Config(?:-\w+)?")
_SERVICE = re.compile(r".*services__(\w+)__Config(?:-\w+)?")


def config_schema() -> dict[str, Any]:
    """The JSON Schema 2020-12 of a config file; ``implementation`` is one of all kinds, by its ``type``."""
    kinds = kind_names()
    models: list[type[BaseModel]] = [Config, *(kind_config(kind) for kind in kinds)]
    _, document = models_json_schema([(model, "validation") for model in models], schema_generator=_Untitled)
    definitions = cast("dict[str, Any]", _polished(document)["$defs"])
    for kind in kinds:
        definitions[f"{kind}_implementation"]["required"] = _with_type(definitions[f"{kind}_implementation"])
    definitions["Implementation"] = {
        "description": "What runs when the tool is called; `type` names the kind.",
        "oneOf": [{"$ref": f"#/$defs/{kind}_implementation"} for kind in kinds],
        "discriminator": {
            "propertyName": "type",
            "mapping": {kind: f"#/$defs/{kind}_implementation" for kind in kinds},
        },
    }
    definitions["McpServerConfig"]["oneOf"] = _one_way()
    definitions["ToolConfig"]["properties"]["parameters"].update(
        required=["type"], properties={"type": {"const": "object"}}
    )
    root = definitions.pop("Config")
    root["properties"].update(dict.fromkeys(SERVER_KEYS[1:], root["properties"][SERVER_KEYS[0]]))
    return {
        "$schema": DIALECT,
        "title": "Toolspan config",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def config_schema_text() -> str:
    """``config_schema`` as the text of ``configs/toolspan.schema.json``."""
    return json.dumps(config_schema(), indent=2, ensure_ascii=False) + "\n"


class _Untitled(GenerateJsonSchema):
    """Pydantic's generator without titles that only repeat the key."""

    @override
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _with_type(definition: dict[str, Any]) -> list[str]:
    return ["type", *(key for key in definition.get("required", ()) if key != "type")]


def _one_way() -> list[dict[str, Any]]:
    urls = ("url", "serverUrl", "server_url", "httpUrl", "http_url")
    return [{"required": ["command"]}, {"anyOf": [{"required": [url]} for url in urls]}]


def _polished(part: Any) -> Any:
    """``part`` with readable names of definitions, Markdown in descriptions, and without noise."""
    if isinstance(part, list):
        return [_polished(member) for member in cast("Sequence[Any]", part)]
    if not isinstance(part, dict):
        return part
    result: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", part).items():
        if key == "$defs":
            result[key] = {_definition(name): _polished(inner) for name, inner in value.items()}
        elif key == "$ref":
            result[key] = "#/$defs/" + _definition(value.removeprefix("#/$defs/"))
        elif key == "description" and isinstance(value, str):
            result[key] = value.replace("``", "`")
        elif not _is_noise(key, value):
            result[key] = _polished(value)
    return result


def _is_noise(key: str, value: Any) -> bool:
    """Titles that repeat a class's name, and defaults that say no more than that the key may be absent."""
    return (key == "title" and isinstance(value, str)) or (
        key == "default" and isinstance(value, dict | None)
    )


def _definition(name: str) -> str:
    if (kind := _KIND.fullmatch(name)) is not None:
        return f"{kind.group(1)}_implementation"
    if (service := _SERVICE.fullmatch(name)) is not None:
        return f"{service.group(1)}_service"
    if name == "KindConfig":
        return "Implementation"
    return "Config" if name.endswith("___models__Config") else name
