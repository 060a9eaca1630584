"""The keys that say how requests are made: the same wherever a config describes some."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from ...problems import Fault, Faulty
from ...schema.constraints import Limits
from ...schema.records import Record, key
from ...schema.values import HEADER_REMEDY, Milliseconds, ResultBytes, unsendable
from ._auth import HttpAuth
from ._circuit import HttpCircuit
from ._client import Policy
from ._hosts import Domain, Hosts, PrivateHost, literal_refusals
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
    faults += [
        Fault((name,), f"the value holds {what}", HEADER_REMEDY)
        for name, value in headers.items()
        if (what := unsendable(value)) is not None
    ]
    if faults:
        raise Faulty(*faults)
    return headers


class RequestSettings(Record):
    """The keys of whatever makes requests."""

    headers: dict[Annotated[str, Limits(pattern=_HEADER_NAME)], str] = key(
        "Headers of every request.", check=_headers, factory=dict, hidden=True
    )
    timeout_ms: Milliseconds = key(
        "Longest time for a call with all its retries, in milliseconds; the tool's timeout_ms applies too.",
        default=25_000,
    )
    connect_timeout_ms: Milliseconds = key("Longest time to connect, in milliseconds.", default=10_000)
    retry: HttpRetry = key("How failed requests are retried.", factory=HttpRetry.initial)
    auth: HttpAuth | None = key("How requests authenticate.", default=None)
    allowed_domains: tuple[Domain, ...] | None = key(
        "The only hosts that may be contacted, also by redirects and for tokens: example.com, or "
        "*.example.com for its subdomains.",
        default=None,
    )
    allow_private: tuple[PrivateHost, ...] = key(
        "Hosts, addresses and networks that may be reached although they are loopback or private: localhost, "
        "10.1.0.0/16.",
        default=(),
    )
    max_response_bytes: ResultBytes = key(
        "Largest response, in bytes after decompression.", default=5_242_880
    )
    max_redirects: int = key(
        "How many redirects are followed; only for GET and HEAD.", least=0, most=20, default=5
    )
    circuit_breaker: HttpCircuit | None = key(
        "When calls to a host that keeps failing are refused for a while; never by default.", default=None
    )
    ca_file: str | None = key(
        "A file of certificates (PEM) to trust instead of the system's, relative to this one.",
        least=1,
        default=None,
    )

    @property
    def allowed(self) -> Hosts:
        """The hosts that requests may go to."""
        return Hosts(self.allowed_domains, self.allow_private)

    def token_faults(self) -> Iterator[Fault]:
        """Why the host that the tokens of ``auth`` come from may not be reached."""
        if self.auth is not None and self.auth.token_url is not None:
            for refusal in literal_refusals(self.allowed, self.auth.token_url):
                yield Fault(("auth", "token_url"), refusal)

    def auth_problems(self) -> Iterator[tuple[str, str]]:
        """What no schema shows of ``auth``, as (key, message)."""
        if self.auth is not None:
            yield from ((f"auth/{name}", message) for name, message in self.auth.problems())

    def request_secrets(self) -> Iterator[str]:
        """Every value that no text may show: those of ``auth``, and of headers that are made to hold one."""
        if self.auth is not None:
            yield from self.auth.secrets()
        for name, value in self.headers.items():
            last = value.rpartition(" ")[2]
            if _SECRET_HEADER.search(name) and len(last) >= _SHORTEST_LITERAL:
                yield last

    def token_hosts(self) -> Iterator[str]:
        """Where the tokens of ``auth`` come from, if it is a host of their own."""
        if self.auth is not None and self.auth.token_url is not None:
            yield urlsplit(self.auth.token_url).hostname or ""

    def auth_variables(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """The variables that ``auth`` names, with the path of the key that does."""
        if self.auth is not None:
            yield from ((("auth", name), variable) for name, variable in self.auth.variables())

    def policy(self, directory: Path, secrets: Secrets, owner: str) -> Policy:
        """How requests are made; paths start at ``directory``."""
        return Policy(
            hosts=self.allowed,
            retry=self.retry,
            circuit=self.circuit_breaker,
            auth=self.auth,
            timeout_ms=self.timeout_ms,
            connect_timeout_ms=self.connect_timeout_ms,
            max_bytes=self.max_response_bytes,
            max_redirects=self.max_redirects,
            ca_file=None if self.ca_file is None else directory / self.ca_file,
            owner=owner,
            secrets=secrets,
        )
