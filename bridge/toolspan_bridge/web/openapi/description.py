"""From endpoints to an OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from ..endpoint import Endpoint
from ..problems import MEDIA_TYPE, TITLES, ProblemDetails

_REF = "#/components/schemas/{model}"
_ALWAYS = (400, 401, 403, 421, 422, 429, 500, 503, 507)
_WITH_BODY = (413, 415)
_NOTHING = {
    "type": "object",
    "maxProperties": 0,
    "description": "Nothing is to be said; that it is JSON keeps pages of others from sending it.",
}
_Mode = Literal["validation", "serialization"]


def description(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of ``endpoints``."""
    schemas, components = models_json_schema(sorted(_models(endpoints), key=str), ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for each in sorted(endpoints, key=lambda each: (each.path, each.method)):
        operation = _operation(each, schemas)
        paths.setdefault(each.path, {})[each.method.lower()] = operation
        if each.method == "GET":
            head = {**operation, "operationId": f"{operation['operationId']}_head"}
            head["responses"] = {
                status: {"description": answer["description"]}
                for status, answer in operation["responses"].items()
            }
            paths[each.path]["head"] = head
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Toolspan",
            "version": version("toolspan"),
            "description": "The API of toolspan ui and toolspan gateway.",
        },
        "paths": paths,
        "components": {
            "schemas": components.get("$defs", {}),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"bearer": []}],
    }


def _models(endpoints: Iterable[Endpoint]) -> set[tuple[type[BaseModel], _Mode]]:
    found: set[tuple[type[BaseModel], _Mode]] = {(ProblemDetails, "serialization")}
    for each in endpoints:
        found |= {(model, "validation") for model in (each.body, each.query) if model is not None}
        if each.answer is not None:
            found.add((each.answer, "serialization"))
    return found


def _operation(endpoint: Endpoint, schemas: Any) -> dict[str, Any]:
    words = [word for word in re.split(r"[^a-z0-9]+", endpoint.path.removeprefix("/api")) if word]
    found: dict[str, Any] = {
        "operationId": "_".join([endpoint.method.lower(), *words]),
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
        "parameters": [*_path_parameters(endpoint), *_query_parameters(endpoint), *_headers(endpoint)],
        "responses": {str(endpoint.status): _good(endpoint, schemas), **_problems(endpoint, schemas)},
    }
    if endpoint.description:
        found["description"] = endpoint.description
    if endpoint.body is not None or endpoint.method == "POST":
        schema = _NOTHING if endpoint.body is None else schemas[endpoint.body, "validation"]
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return found


def _path_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"\{(\w+)", endpoint.path)
    ]


def _query_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    if endpoint.query is None:
        return []
    schema = endpoint.query.model_json_schema(ref_template=_REF)
    required = schema.get("required", [])
    found: list[dict[str, Any]] = []
    for name, each in schema.get("properties", {}).items():
        parameter = {"name": name, "in": "query", "required": name in required, "schema": _without_null(each)}
        if text := each.get("description"):
            parameter["description"] = text
        found.append(parameter)
    return found


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter that may be left out: a query has no null."""
    choices = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "title", "default")}
    return {**rest, **choices[0]} if len(choices) == 1 else schema


def _headers(endpoint: Endpoint) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if endpoint.starts:
        schema = {"type": "string", "pattern": "^[!-~]{1,255}$"}
        text = (
            "The same for a request that is sent again: nothing runs twice, and the first answer comes again."
        )
        found.append({"name": "Idempotency-Key", "in": "header", "schema": schema, "description": text})
    if endpoint.stream:
        schema = {"type": "string", "pattern": "^[0-9]{1,18}$"}
        text = "The id of the last event that came: those after it are sent."
        found.append({"name": "Last-Event-ID", "in": "header", "schema": schema, "description": text})
    return found


def _good(endpoint: Endpoint, schemas: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"description": "Done."}
    if endpoint.stream:
        found["content"] = {"text/event-stream": {"schema": {"type": "string"}}}
    elif endpoint.answer is not None:
        found["content"] = {endpoint.media_type: {"schema": schemas[endpoint.answer, "serialization"]}}
    return found


def _problems(endpoint: Endpoint, schemas: Any) -> dict[str, Any]:
    operator = (403,) if endpoint.audience == "operator" else ()
    statuses = {*_ALWAYS, *endpoint.problems, *operator, *(_WITH_BODY if endpoint.method != "GET" else ())}
    if "{" in endpoint.path:
        statuses.add(404)
    content = {MEDIA_TYPE: {"schema": schemas[ProblemDetails, "serialization"]}}
    found = {str(status): {"description": TITLES[status], "content": content} for status in sorted(statuses)}
    retry = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait."}}
    found["429"] = {**found["429"], "headers": retry}
    return found
