"""Tools from an API description: one for each selected operation that can be one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from ...engines.http_client._hosts import Hosts, host_name, url_problem
from ...engines.openapi._arguments import Arguments, arguments_of
from ...engines.openapi._description import (
    MAX_OPERATIONS,
    Description,
    Operation,
    list_at,
    object_at,
    text_at,
)
from ...engines.openapi._errors import UnusableDescription, UnusableOperation
from ...engines.openapi._operation_filter import excludes, includes
from ...engines.openapi._schemas import Schemas, cut
from ...engines.openapi._security import auth_of
from ...engines.openapi._unique_names import UniqueNames, name_of
from ._openapi_config import OpenApiConfig, OverrideConfig

if TYPE_CHECKING:
    from ...config import ToolConfig


_DESCRIPTION = 4_096
_TAGS = 20
_DOUBTFUL = frozenset(("default", "examples", "pattern", "format"))
_SHARED = (
    "headers",
    "timeout_ms",
    "connect_timeout_ms",
    "retry",
    "circuit_breaker",
    "allowed_domains",
    "allow_private",
    "max_response_bytes",
    "max_redirects",
)


@dataclass(slots=True)
class OpenApiTools:
    """The ``tools``, and why operations without a tool have none: ``GET /users: …``."""

    tools: list[ToolConfig] = field(default_factory=list["ToolConfig"])
    left_out: list[str] = field(default_factory=list[str])


def tools_of(
    content: bytes, name: str, config: OpenApiConfig, *, base: str = "", ca_file: str | None = None
) -> OpenApiTools:
    """The tools of the description ``content``, which is called ``name``.

    ``base`` is the URL that it was fetched from, if any: then only hosts that the config names are called.
    Raises ``UnusableDescription``.
    """
    description = Description.parse(content, name)
    made, names = OpenApiTools(), UniqueNames()
    wanted = [
        operation
        for operation in description.operations()
        if (operation.fault or includes(config.include, operation))
        and not excludes(config.exclude, operation)
    ]
    if len(wanted) > MAX_OPERATIONS:
        raise UnusableDescription(
            f"{len(wanted):,} operations are wanted, more than {MAX_OPERATIONS:,}: narrow down include"
        )
    maker = _Maker(description, config, base, ca_file)
    for operation in wanted:
        try:
            made.tools.append(maker.tool(operation, names))
        except UnusableOperation as error:
            made.left_out.append(f"{operation.place}: {error}")
    return made


@dataclass(frozen=True, slots=True)
class _Maker:
    description: Description
    config: OpenApiConfig
    base: str
    ca_file: str | None

    def tool(self, operation: Operation, names: UniqueNames) -> ToolConfig:
        if operation.fault:
            raise UnusableOperation(operation.fault)
        override = self._override(operation)
        arguments = arguments_of(self.description, operation)
        implementation = self._implementation(operation, arguments)
        implementation["send_defaults"] = override.send_defaults
        wanted = self.config.prefix + (override.name or name_of(operation))
        fields: dict[str, Any] = {
            "name": names.give(wanted),
            "description": override.description or _described(operation),
            "implementation": implementation,
            "tags": tuple(tag[:100] for tag in operation.tags[:_TAGS] if tag),
            "timeout_ms": override.timeout_ms,
        }
        if title := text_at(operation.data.get("summary")).strip():
            fields["title"] = cut(title, 200)
        if operation.data.get("deprecated") is True:
            fields["deprecated"] = True
        if self.config.output_schema and (result := self._result(operation)) is not None:
            fields["output_schema"] = result
        return _valid(fields, arguments.schema())

    def _override(self, operation: Operation) -> OverrideConfig:
        overrides = self.config.overrides
        return overrides.get(operation.id) or overrides.get(operation.place) or OverrideConfig.initial()

    def _implementation(self, operation: Operation, arguments: Arguments) -> dict[str, Any]:
        config = self.config
        server = (config.server or self.description.server(operation, self.base)).rstrip("/")
        self._check_host(server, "the server")
        shared: dict[str, Any] = {name: getattr(config, name) for name in _SHARED}
        shared["headers"] = {**arguments.headers, **shared["headers"]}
        if config.auth is not None:
            shared["auth"] = config.auth
        elif (auth := auth_of(self.description, operation, config.credentials)) is not None:
            if "token_url" in auth:
                self._check_host(auth["token_url"], "the token endpoint")
            shared["auth"] = auth
        return {
            "type": "http",
            "url": server + operation.path,
            "method": operation.method.upper(),
            "params_mapping": arguments.mapping,
            "body_format": arguments.body_format,
            "ca_file": self.ca_file,
            **self._taken(operation),
            **shared,
        }

    def _taken(self, operation: Operation) -> dict[str, Any]:
        """The config keys that accept HTML pages and empty responses, where the description has them."""
        good = self._good_response(operation)
        types = [kind.partition(";")[0].strip().lower() for kind in object_at(good.get("content"))]
        taken: dict[str, Any] = {"response_types": ("*",)} if "text/html" in types else {}
        return taken if types or not good else {"allow_empty": True}

    def _good_response(self, operation: Operation) -> Mapping[str, Any]:
        responses = object_at(operation.data.get("responses"))
        good = next((responses[status] for status in ("200", "201", "2XX") if status in responses), None)
        return object_at(self.description.resolved(good))

    def _check_host(self, url: str, what: str) -> None:
        """Refuse other hosts: a description that was fetched must not decide where credentials are sent."""
        if (problem := url_problem(url)) is not None:
            raise UnusableOperation(f"{what} {problem} (write server: https://… in the config)")
        config = self.config
        if url.rstrip("/") != (config.server or "").rstrip("/") and self._is_weaker(url):
            raise UnusableOperation(f"{what} is http, and the description came over https (write server)")
        known = {host_name(urlsplit(each).hostname or "") for each in (self.base, config.server or "")}
        host = urlsplit(url).hostname or ""
        if not self.base or host_name(host) in known:
            return
        if config.allowed_domains is None or not Hosts(config.allowed_domains).allows(host):
            raise UnusableOperation(
                f"{what} is at {host}, another host than the description's (list it in allowed_domains)"
            )

    def _is_weaker(self, url: str) -> bool:
        return urlsplit(self.base).scheme == "https" and urlsplit(url).scheme != "https"

    def _result(self, operation: Operation) -> dict[str, Any] | None:
        """The schema of a successful response, if that is a JSON object with a usable schema."""
        from ...config.models.tool_options import result_schema

        try:
            content = object_at(self._good_response(operation).get("content"))
            schemas = Schemas(self.description, "out")
            shape = self.description.resolved(object_at(content.get("application/json")).get("schema"))
            written = schemas.converted(shape)
            if object_at(written).get("type") != "object":
                return None
            return result_schema(
                {**written, **({"$defs": schemas.definitions} if schemas.definitions else {})}
            )
        except (UnusableOperation, ValueError):
            return None


def _described(operation: Operation) -> str:
    """Summary and description, without repetition."""
    summary = text_at(operation.data.get("summary")).strip()
    more = text_at(operation.data.get("description")).strip()
    parts = [summary] if more.startswith(summary) and summary == more else [summary, more]
    return cut("\n\n".join(part for part in parts if part), _DESCRIPTION) or operation.place


def _valid(fields: Mapping[str, Any], parameters: dict[str, Any]) -> ToolConfig:
    """The tool; when its parameters are invalid, without the keywords that are often wrong."""
    from pydantic_core import ValidationError

    from ...config import ToolConfig
    from ..kinds.http import Config as HttpConfig

    try:
        implementation = HttpConfig.model_validate(fields["implementation"])
        fields = {**fields, "implementation": implementation}
        try:
            tool = ToolConfig.model_validate({**fields, "parameters": parameters})
        except ValidationError:
            tool = ToolConfig.model_validate({**fields, "parameters": _without(parameters)})
    except ValidationError as error:
        raise UnusableOperation(_first(error)) from None
    for key_, message in implementation.misfits(tool.parameters):
        raise UnusableOperation(f"{key_}: {message}")
    return tool


def _first(error: Any) -> str:
    detail = error.errors(include_url=False)[0]
    cause = detail.get("ctx", {}).get("error")
    return str(cause if cause is not None else detail["msg"])[:500]


def _without(schema: Any, *, named: bool = False) -> Any:
    """``schema`` without the keywords in ``_DOUBTFUL``; the members of ``named`` are names, not keywords."""
    if isinstance(schema, list):
        return [_without(part) for part in list_at(cast("Any", schema))]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _without(part, named=not named and name in ("properties", "$defs", "patternProperties"))
        for name, part in object_at(cast("Any", schema)).items()
        if named or name not in _DOUBTFUL
    }
