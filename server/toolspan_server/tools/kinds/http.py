"""``http``: returns the response of a web API."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from typing_extensions import override

from ..._version import __version__
from ...calls.context import Context
from ...common import trace_context as trace
from ...common.resource_pool import ResourcePool
from ...common.tool_hints import READS, Hints
from ...engines.http_client import (
    HttpClient,
    HttpResponse,
    Policy,
    Request,
)
from ...engines.http_client._bodies import BodyFormat, body_of
from ...engines.http_client._hosts import literal_refusals
from ...engines.http_client._jsonpath import ResponsePath
from ...engines.http_client._mapping_checks import argument_misfits, place_faults
from ...engines.http_client._parameter_mapping import (
    HttpParameters,
    ParameterMapping,
    Place,
    PlacedArguments,
)
from ...engines.http_client._results import Reader, ResponseFormat
from ...engines.http_client._secrets import Secrets
from ...engines.http_client._settings import RequestSettings
from ...engines.http_client._urls import UrlTemplate
from ...engines.templates import TemplateTree, check_templates, compiled
from ...errors import ToolFailure
from ...parts.environment import Environment
from ...parts.kind import Kind, KindConfig
from ...problems import Fault, Faulty, Path
from ...schema.constraints import Limits, OneOf, WithoutVariable
from ...schema.records import key

_log = logging.getLogger(__name__)
_STATUS = r"^[1-5]([0-9][0-9]|xx)$"
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
_IDEMPOTENT = frozenset(("PUT", "DELETE"))
_DEFAULT_HEADERS = {
    "Accept": "application/json, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": f"toolspan/{__version__}",
}

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]


def _url(url: str) -> str:
    UrlTemplate.parse(url)
    return url


def _path(path: str) -> str:
    ResponsePath(path)
    return path


class Config(KindConfig, RequestSettings, keys_of=(RequestSettings,)):
    """``{"type": "http", "url": "https://api.example.com/users/{id}"}`` and how the request is made.

    Arguments named in the URL go there; of the others those of GET, HEAD, DELETE and OPTIONS go into the
    query, and of other methods into a JSON body, unless ``params_mapping`` says otherwise.
    """

    type: Annotated[str, OneOf(("http",))] = key(default="http")
    url: str = key(
        "The URL of requests; {name} in its path or query is replaced by the argument.",
        most=8_192,
        check=_url,
    )
    method: Method = key("The HTTP method.", default="GET")
    params_mapping: HttpParameters = key(
        "Argument → where it goes in the request; a text is its name there.", factory=dict
    )
    send_defaults: bool = key(
        "Whether what a call leaves out is sent with the defaults of parameters; otherwise it is not sent.",
        default=False,
    )
    body: Any = key(
        "The body: a template over the arguments, instead of an object of all of them.",
        check=check_templates,
        default=None,
    )
    body_format: BodyFormat | None = key(
        "How the body is encoded; json by default, multipart when an argument is a file.",
        default=None,
    )
    response_path: str | None = key(
        "JSONPath (RFC 9535) of the result in the response.",
        least=1,
        check=_path,
        default=None,
    )
    response_format: ResponseFormat = key(
        "How the response is read; by default as its media type says.",
        default="auto",
    )
    response_types: tuple[Annotated[str, Limits(least=1, most=200)], ...] = key(
        "The accepted media types of responses, globs (application/json, text/*); any but HTML pages "
        "by default.",
        default=(),
    )
    success_status: tuple[Annotated[str, Limits(pattern=_STATUS)], ...] = key(
        'The statuses, or classes of them, whose responses are results: ["2xx", "404"].',
        least=1,
        default=("2xx",),
    )
    allow_empty: Annotated[bool, WithoutVariable()] = key(
        "Whether an empty response is a result; with 201, 202, 204 and 205 it always is.",
        default=False,
    )
    status_hints: dict[Annotated[str, Limits(pattern=_STATUS)], Annotated[str, Limits(most=1_000)]] = key(
        'Error messages for the model by status: {"404": …, "5xx": …}.',
        factory=dict,
    )

    @override
    def check(self) -> None:
        faults = [*self._host_faults(), *place_faults(self.params_mapping, self.method, self.templated)]
        if self.response_path is not None and self.response_format in ("text", "binary"):
            message = f"means nothing for response_format {self.response_format!r}"
            faults.append(Fault(("response_path",), message, "remove one of them"))
        if faults:
            raise Faulty(*faults)

    def _host_faults(self) -> Iterator[Fault]:
        start = UrlTemplate.parse(self.url).start
        yield from (Fault(("url",), refusal) for refusal in literal_refusals(self.allowed, start))
        yield from self.token_faults()

    @override
    def hints(self) -> Hints:
        """By the method (RFC 9110, 9.2). Of a POST it is not known what it does, so that it may destroy."""
        if self.method in _SAFE:
            return {**READS, "open_world": True}
        hints = {"read_only": False, "idempotent": self.method in _IDEMPOTENT, "open_world": True}
        return hints if self.method == "POST" else {**hints, "destructive": True}

    @property
    @override
    def fills_defaults(self) -> bool:
        return self.send_defaults

    @property
    def templated(self) -> bool:
        """Whether the request body is a template of the config."""
        return "body" in self.model_fields_set and self.body is not None

    @override
    def problems(self) -> Iterable[tuple[str, str]]:
        return self.auth_problems()

    @override
    def misfits(self, parameters: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        body = self.body if self.templated else None
        return argument_misfits(parameters, self.places(), body, fill_defaults=self.fills_defaults)

    @override
    def secrets(self) -> Iterable[str]:
        return self.request_secrets()

    @override
    def hosts(self) -> Iterable[str]:
        yield UrlTemplate.parse(self.url).host
        yield from self.token_hosts()

    @override
    def variables(self) -> Iterable[tuple[tuple[str, ...], str]]:
        return self.auth_variables()

    @classmethod
    @override
    def is_local(cls, path: Path) -> bool:
        return path == ("ca_file",)

    def places(self) -> ParameterMapping:
        """The part of the request that each argument goes to."""
        listed = {parameter.place for parameter in self.params_mapping.values()}
        leftover: Place | None = "body"
        if self.templated:
            leftover = None
        elif self.body_format in ("form", "multipart") or listed & {"form", "file"}:
            leftover = "form"
        elif self.body_format == "none":
            leftover = "query"
        return ParameterMapping.of(self.params_mapping, UrlTemplate.parse(self.url), self.method, leftover)

    @override
    def target(self) -> str:
        return f"web host {UrlTemplate.parse(self.url).host!r}"

    @override
    def build(self, environment: Environment) -> Kind:
        return _Http(self, environment.config_dir, environment.shared)


class _Http:
    talks = False

    def __init__(self, config: Config, directory: FilePath, shared: ResourcePool) -> None:
        self._config = config
        self._directory = directory
        self._shared = shared
        self._secrets = Secrets(config.secrets())

    @cached_property
    def _url(self) -> UrlTemplate:
        return UrlTemplate.parse(self._config.url)

    @cached_property
    def _places(self) -> ParameterMapping:
        return self._config.places()

    @cached_property
    def _body(self) -> TemplateTree | None:
        return compiled(self._config.body) if self._config.templated else None

    @cached_property
    def _policy(self) -> Policy:
        owner = f"{self._config.method} {self._config.url}"
        return self._config.policy(self._directory, self._secrets, owner)

    @cached_property
    def _reader(self) -> Reader:
        config = self._config
        path = None if config.response_path is None else ResponsePath(config.response_path)
        return Reader(
            self._secrets,
            config.response_format,
            path,
            config.status_hints,
            config.response_types,
            config.success_status,
            config.allow_empty,
        )

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        """The result that the API returns for ``arguments``."""
        http_client = self._shared.get(HttpClient, HttpClient)
        try:
            request = self._request(arguments, context)
            started = time.perf_counter()
            answer = await http_client.send(request, self._policy)
            took_ms = (time.perf_counter() - started) * 1000
            _log.info("http %r: HTTP %d after %.0f ms", context.tool_name, answer.status, took_ms)
            if request.method == "HEAD" and answer.status < 300:
                return self._head(answer)
            return await self._reader.result(answer, request.method)
        except ToolFailure as failure:
            failure.error = self._secrets.redact(failure.error)
            _log.info("http %r: %s", context.tool_name, failure.error_code)
            raise

    def _request(self, arguments: Mapping[str, Any], context: Context) -> Request:
        config = self._config
        placed = self._places.placed(arguments)
        template = None if self._body is None else self._body.render({"input": dict(arguments), **arguments})
        body, kind = body_of(placed, template, config.body_format, config.method, templated=config.templated)
        url = self._url.expanded(placed.path, iter(placed.query))
        return Request(config.method, url, self._headers(placed, kind, context), body)

    def _headers(self, placed: PlacedArguments, kind: str, context: Context) -> tuple[tuple[str, str], ...]:
        """Each header once; later ones override: the server's own, tracing, the config's, the arguments'."""
        headers: dict[str, tuple[str, str]] = {}
        typed = {"Content-Type": kind} if kind else {}
        layers = (_DEFAULT_HEADERS, trace.outgoing(context.meta), typed, self._config.headers)
        for layer in (*(layer.items() for layer in layers), placed.headers):
            headers.update({name.lower(): (name, value.strip(" \t")) for name, value in layer})
        if kind.startswith("multipart/"):
            headers["content-type"] = ("Content-Type", kind)
        if placed.cookies:
            given = [headers["cookie"][1]] if "cookie" in headers else []
            headers["cookie"] = ("Cookie", "; ".join([*given, *placed.cookies]))
        return tuple(headers.values())

    def _head(self, answer: HttpResponse) -> Any:
        return self._secrets.redact_all({"status": answer.status, "headers": dict(answer.headers)})
