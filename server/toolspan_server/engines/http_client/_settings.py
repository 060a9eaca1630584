"""The keys that say how requests are made: the same wherever a config describes some."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Protocol
from urllib.parse import urlsplit

from ...problems import Fault, Faulty
from ...schema.constraints import Limits
from ...schema.records import key
from ._auth import HttpAuth
from ._circuit import HttpCircuit
from ._client import Policy
from ._hosts import Hosts
from ._parameter_mapping import header_value
from ._retry import HttpRetry
from ._secrets import Secrets

_HEADER_NAME = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$"
_SECRET_HEADER = re.compile(r"(?:authorization|cookie|key|token|secret)$", re.IGNORECASE)
_SHORTEST_LITERAL = 8
_OURS = frozenset(("host", "content-length", "transfer-encoding", "connection", "accept-encoding", "te"))


def _headers(headers: dict[str, str]) -> dict[str, str]:
    faults = [
        Fault((name,), f"{name!r} is set by the server", "remove it", on_key=True)
        for name in headers
        if name.lower() in _OURS
    ]
    for name, value in headers.items():
        try:
            header_value(value, name)
        except Exception:
            hint = "remove line breaks, also those in the variables that it is made of"
            faults.append(Fault((name,), "the value holds a control character", hint))
    if faults:
        raise Faulty(*faults)
    return headers


Headers = dict[Annotated[str, Limits(pattern=_HEADER_NAME)], str]

HEADERS: Any = key("Headers of every request.", check=_headers, factory=dict, hidden=True)
TIMEOUT_MS: Any = key(
    "Longest time for a call with all its retries, in milliseconds; the tool's timeout_ms applies too.",
    default=25_000,
)
CONNECT_TIMEOUT_MS: Any = key("Longest time to connect, in milliseconds.", default=10_000)
RETRY: Any = key("How failed requests are retried.", factory=HttpRetry.initial)
AUTH: Any = key("How requests authenticate.", default=None)
CIRCUIT_BREAKER: Any = key(
    "When calls to a host that keeps failing are refused for a while; never by default.",
    default=None,
)
ALLOWED_DOMAINS: Any = key(
    "The only hosts that may be contacted, also by redirects and for tokens: example.com, or "
    "*.example.com for its subdomains.",
    default=None,
)
ALLOW_PRIVATE: Any = key(
    "Hosts, addresses and networks that may be reached although they are loopback or private: localhost, "
    "10.1.0.0/16.",
    default=(),
)
MAX_RESPONSE_BYTES: Any = key("Largest response, in bytes after decompression.", default=5_242_880)
MAX_REDIRECTS: Any = key(
    "How many redirects are followed; only for GET and HEAD.", least=0, most=20, default=5
)
CA_FILE: Any = key(
    "A file of certificates (PEM) to trust instead of the system's, relative to this one.",
    least=1,
    default=None,
)


class Settings(Protocol):
    """A record that has these keys."""

    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def auth(self) -> HttpAuth | None: ...
    @property
    def timeout_ms(self) -> int: ...
    @property
    def connect_timeout_ms(self) -> int: ...
    @property
    def retry(self) -> HttpRetry: ...
    @property
    def circuit_breaker(self) -> HttpCircuit | None: ...
    @property
    def allowed_domains(self) -> tuple[str, ...] | None: ...
    @property
    def allow_private(self) -> tuple[str, ...]: ...
    @property
    def max_response_bytes(self) -> int: ...
    @property
    def max_redirects(self) -> int: ...
    @property
    def ca_file(self) -> str | None: ...


def secrets_of(settings: Settings) -> Iterator[str]:
    """Every value that no text may show: those of ``auth``, and of headers that are made to hold one."""
    if settings.auth is not None:
        yield from settings.auth.secrets()
    for name, value in settings.headers.items():
        last = value.rpartition(" ")[2]
        if _SECRET_HEADER.search(name) and len(last) >= _SHORTEST_LITERAL:
            yield last


def token_hosts(settings: Settings) -> Iterator[str]:
    """Where the tokens of ``auth`` come from, if it is a host of their own."""
    if settings.auth is not None and settings.auth.token_url is not None:
        yield urlsplit(settings.auth.token_url).hostname or ""


def variables_of(settings: Settings) -> Iterator[tuple[tuple[str, ...], str]]:
    """The variables that ``auth`` names, with the path of the key that does."""
    if settings.auth is not None:
        yield from ((("auth", name), variable) for name, variable in settings.auth.variables())


def hosts_of(settings: Settings) -> Hosts:
    """The hosts that ``settings`` let requests go to."""
    return Hosts(settings.allowed_domains, settings.allow_private)


def policy_of(settings: Settings, directory: Path, secrets: Secrets, owner: str) -> Policy:
    """How requests are made by ``settings``; paths start at ``directory``."""
    return Policy(
        hosts=hosts_of(settings),
        retry=settings.retry,
        circuit=settings.circuit_breaker,
        auth=settings.auth,
        timeout_ms=settings.timeout_ms,
        connect_timeout_ms=settings.connect_timeout_ms,
        max_bytes=settings.max_response_bytes,
        max_redirects=settings.max_redirects,
        ca_file=None if settings.ca_file is None else directory / settings.ca_file,
        owner=owner,
        secrets=secrets,
    )
