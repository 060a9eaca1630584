"""An operation's parameters and body as the arguments of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._description import (
    Description,
    Operation,
    list_at,
    object_at,
    text_at,
)
from ._errors import UnusableOperation
from ._schemas import Schemas, cut
from ._unique_names import UniqueNames

_IGNORED_HEADERS = frozenset(("accept", "content-type", "authorization"))
"""OpenAPI 3.1, Parameter Object: a header parameter of these names is ignored."""

_STYLES = frozenset(("form", "spaceDelimited", "pipeDelimited", "deepObject"))
_COMPOSED = ("allOf", "anyOf", "oneOf", "not", "if", "$ref", "patternProperties")


@dataclass(slots=True)
class Arguments:
    """``properties`` and ``required`` of the parameters' schema; ``mapping``, ``body_format`` and ``headers``
    of the kind ``http``."""

    schemas: Schemas
    properties: dict[str, Any] = field(default_factory=dict[str, Any])
    required: list[str] = field(default_factory=list[str])
    mapping: dict[str, Any] = field(default_factory=dict[str, Any])
    body_format: str = "none"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    _names: UniqueNames = field(default_factory=UniqueNames)

    def add(self, name: str, schema: Any, where: Mapping[str, Any], *, required: bool) -> None:
        """One more argument, which goes ``where``."""
        argument = self._names.give(name)
        self.properties[argument] = schema
        self.mapping[argument] = {**where, "name": name}
        if required:
            self.required.append(argument)

    def schema(self) -> dict[str, Any]:
        """The parameters of the tool."""
        whole: dict[str, Any] = {"type": "object", "properties": self.properties}
        if self.required:
            whole["required"] = self.required
        if self.schemas.definitions:
            whole["$defs"] = self.schemas.definitions
        return whole


def arguments_of(description: Description, operation: Operation) -> Arguments:
    """The arguments of ``operation``. Raises ``UnusableOperation``."""
    arguments = Arguments(Schemas(description, "in"))
    for parameter in _parameters(description, operation):
        _add_parameter(arguments, description, parameter)
    if "requestBody" in operation.data and operation.method not in ("get", "head"):
        _add_body(arguments, description, description.resolved(operation.data["requestBody"]))
    return arguments


def _parameters(description: Description, operation: Operation) -> list[dict[str, Any]]:
    """Those of the path, replaced by the operation's own of the same name and place."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for owner in (operation.item, operation.data):
        for given in list_at(owner.get("parameters")):
            parameter = description.resolved(given)
            found[text_at(parameter.get("in")), text_at(parameter.get("name"))] = parameter
    return list(found.values())


def _add_parameter(arguments: Arguments, description: Description, parameter: Mapping[str, Any]) -> None:
    place, name = text_at(parameter.get("in")), text_at(parameter.get("name"))
    if place not in ("path", "query", "header", "cookie") or not name:
        raise UnusableOperation("a parameter has no name or no place")
    if place == "header" and name.lower() in _IGNORED_HEADERS:
        return
    where: dict[str, Any] = {"in": place}
    style = text_at(parameter.get("style"))
    if isinstance(parameter.get("content"), dict):
        media = object_at(next(iter(object_at(parameter["content"]).values()), None))
        schema = arguments.schemas.converted(media.get("schema", {}))
        where["style"] = "json"
    else:
        schema = arguments.schemas.converted(parameter.get("schema", {}))
        if place == "path" and style not in ("", "simple"):
            raise UnusableOperation(
                f"the style {style[:20]!r} of the parameter {name[:60]!r} is not supported"
            )
        if place in ("query", "cookie"):
            where["style"] = style if style in _STYLES else "form"
        if isinstance(parameter.get("explode"), bool):
            where["explode"] = parameter["explode"]
    required = place == "path" or parameter.get("required") is True
    arguments.add(name, _described(schema, parameter), where, required=required)


def _described(schema: Any, parameter: Mapping[str, Any]) -> Any:
    """``schema`` with the parameter's own description and example."""
    extras: dict[str, Any] = {}
    if description := text_at(parameter.get("description")):
        extras["description"] = cut(description)
    if "example" in parameter:
        extras["examples"] = [parameter["example"]]
    return {**object_at(schema), **extras} if extras and schema is not True else schema


def _add_body(arguments: Arguments, description: Description, body: Mapping[str, Any]) -> None:
    content = object_at(body.get("content"))
    kind, arguments.body_format = _media_type(list(content))
    media = object_at(content.get(kind))
    required = body.get("required") is True
    if arguments.body_format == "text":
        arguments.headers["Content-Type"] = kind
        _add_whole(arguments, body, media, required)
        return
    if arguments.body_format == "json" and kind not in ("application/json", "*/*"):
        arguments.headers["Content-Type"] = kind
    shape = description.resolved(media.get("schema", {}))
    if not isinstance(shape.get("properties"), dict) or any(keyword in shape for keyword in _COMPOSED):
        if arguments.body_format != "json":
            raise UnusableOperation("its form has no plain properties")
        _add_whole(arguments, body, media, required)
        return
    whole = arguments.schemas.converted({**shape, "additionalProperties": False})
    needed = list_at(whole.get("required")) if required else []
    for name, schema in whole["properties"].items():
        where = _in_body(arguments.body_format, name, schema, object_at(media.get("encoding")))
        arguments.add(name, schema, where, required=name in needed)


def _add_whole(
    arguments: Arguments, body: Mapping[str, Any], media: Mapping[str, Any], required: bool
) -> None:
    schema = arguments.schemas.converted(media.get("schema", {}))
    where = {"in": "body", "whole": True}
    arguments.add("body", _described(schema, body), where, required=required)


def _in_body(body_format: str, name: str, schema: Any, encoding: Mapping[str, Any]) -> dict[str, Any]:
    if body_format == "json":
        return {"in": "body"}
    own = object_at(encoding.get(name))
    kind = text_at(own.get("contentType")).partition(",")[0].strip()
    typed: dict[str, Any] = {"mime_type": kind} if kind.count("/") == 1 and "*" not in kind else {}
    if body_format == "form":
        if (style := text_at(own.get("style"))) in _STYLES:
            typed["style"] = style
        elif kind.partition(";")[0].endswith("json"):
            typed["style"] = "json"
        if isinstance(own.get("explode"), bool):
            typed["explode"] = own["explode"]
    items = object_at(object_at(schema).get("items"))
    if body_format == "multipart" and "base64" in (
        object_at(schema).get("contentEncoding"),
        items.get("contentEncoding"),
    ):
        return {"in": "file", "encoding": "base64", **typed}
    return {"in": "form", **typed}


def _media_type(kinds: list[str]) -> tuple[str, str]:
    """The media type that is sent, and the body's format. Raises ``UnusableOperation``."""
    for kind in kinds:
        plain = kind.partition(";")[0].strip().lower()
        if plain in ("application/json", "*/*") or plain.endswith("+json"):
            return kind, "json"
    known = {"application/x-www-form-urlencoded": "form", "multipart/form-data": "multipart"}
    for kind in kinds:
        if (plain := kind.partition(";")[0].strip().lower()) in known:
            return kind, known[plain]
    for kind in kinds:
        if kind.startswith("text/") or kind.partition(";")[0].endswith("xml"):
            return kind, "text"
    raise UnusableOperation(f"no body of the media types {', '.join(kinds)[:100] or '(none)'} can be made")
