"""What an entry of ``tools.sources`` says for the operations of an API description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from typing_extensions import override

from ...engines.http_client import _settings as settings
from ...engines.http_client._auth import HttpAuth
from ...engines.http_client._circuit import HttpCircuit
from ...engines.http_client._hosts import check_url, literal_refusals
from ...engines.http_client._retry import HttpRetry
from ...engines.openapi._choice import OperationsConfig
from ...engines.openapi._names import LONGEST
from ...engines.openapi._security import HttpCredentials
from ...parts.source import SourceConfig
from ...problems import Fault, Faulty
from ...schema.records import (
    Record,
    checked,
    choice,
    key,
    named,
    optional,
    text,
)
from ...schema.values import MILLISECONDS, integer

_DESCRIPTION = 4_096


class OverrideConfig(Record):
    """What is said of one operation instead of what the description says."""

    name: str | None = key(
        optional(text(pattern=rf"^[A-Za-z0-9_-]{{1,{LONGEST}}}$")), "Name of the tool.", default=None
    )
    description: str | None = key(
        optional(text(least=1, most=_DESCRIPTION)), "Its description, for the model.", default=None
    )
    timeout_ms: int | None = key(
        optional(MILLISECONDS), "Longest time for one call, in milliseconds.", default=None
    )


class OpenApiConfig(SourceConfig):
    """The keys of a source of type ``openapi``."""

    type: str = key(choice("openapi"), default="openapi")
    file: str | None = key(
        optional(text(least=1)), "The description: YAML or JSON, relative to this file.", default=None
    )
    url: str | None = key(
        optional(checked(text(), check_url)), "The description's http or https URL.", default=None
    )
    refresh_seconds: int | None = key(
        optional(integer(10, 604_800)),
        "How often the description is read again, in seconds; never when absent.",
        default=None,
    )
    server: str | None = key(
        optional(checked(text(), check_url)),
        "The URL that paths follow, instead of the description's servers.",
        default=None,
    )
    prefix: str = key(
        text(most=32, pattern=r"^[A-Za-z0-9_-]*$"), "What the name of every tool starts with.", default=""
    )
    include: OperationsConfig = key(
        OperationsConfig.shape(),
        "The operations that become tools; all by default.",
        factory=OperationsConfig.initial,
    )
    exclude: OperationsConfig = key(
        OperationsConfig.shape(), "Those of them that do not.", factory=OperationsConfig.initial
    )
    overrides: dict[str, OverrideConfig] = key(
        named(OverrideConfig.shape()),
        "operationId, or method and path (GET /users), → what is said of it instead.",
        factory=dict,
    )
    credentials: dict[str, HttpCredentials] = key(
        named(HttpCredentials.shape()), "Name of a security scheme → what meets it.", factory=dict
    )
    output_schema: bool = key(
        {"type": "bool", "strict": True},
        "Whether results are checked against the schemas of the description.",
        default=False,
    )
    headers: dict[str, str] = settings.HEADERS
    timeout_ms: int = settings.TIMEOUT_MS
    connect_timeout_ms: int = settings.CONNECT_TIMEOUT_MS
    retry: HttpRetry = settings.RETRY
    auth: HttpAuth | None = settings.AUTH
    allowed_domains: tuple[str, ...] | None = settings.ALLOWED_DOMAINS
    allow_private: tuple[str, ...] = settings.ALLOW_PRIVATE
    max_response_bytes: int = settings.MAX_RESPONSE_BYTES
    max_redirects: int = settings.MAX_REDIRECTS
    circuit_breaker: HttpCircuit | None = settings.CIRCUIT_BREAKER
    ca_file: str | None = settings.CA_FILE

    @override
    def check(self) -> None:
        if faults := list(self._faults()):
            raise Faulty(*faults)

    def _faults(self) -> Iterator[Fault]:
        if (self.file is None) == (self.url is None):
            said = "both a file and a url" if self.file is not None else "neither a file nor a url"
            yield Fault((), said, "write one of them")
        hosts = settings.hosts_of(self)
        if self.auth is not None and self.auth.token_url is not None:
            refusals = literal_refusals(hosts, self.auth.token_url)
            yield from (Fault(("auth", "token_url"), refusal) for refusal in refusals)
        for name in ("url", "server"):
            if (url := getattr(self, name)) is not None:
                yield from (Fault((name,), refusal) for refusal in literal_refusals(hosts, url))

    @override
    def problems(self) -> Iterable[tuple[str, str]]:
        if self.auth is not None:
            yield from ((f"auth/{name}", message) for name, message in self.auth.problems())
        for scheme, given in self.credentials.items():
            yield from ((f"credentials/{scheme}", message) for message in given.problems())

    @override
    def secrets(self) -> Iterable[str]:
        yield from settings.secrets_of(self)
        for given in self.credentials.values():
            yield from given.secrets()

    @override
    def hosts(self) -> Iterable[str]:
        """Where the description and the server are; what only the description names is said to be so."""
        urls = [url for url in (self.url, self.server) if url is not None]
        yield from (urlsplit(url).hostname or "" for url in urls)
        if self.server is None:
            yield f"the servers that {self.file or self.url} names"
        yield from settings.token_hosts(self)

    @override
    def variables(self) -> Iterable[tuple[tuple[str, ...], str]]:
        yield from settings.variables_of(self)
        for scheme, given in self.credentials.items():
            yield from ((("credentials", scheme, name), variable) for name, variable in given.variables())
