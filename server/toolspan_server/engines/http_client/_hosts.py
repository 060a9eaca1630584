"""Which hosts a request may go to, and what their names may resolve to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from ...schema.constraints import AfterValidator, Limits
from ._addresses import (
    PRIVATE_USE,
    Address,
    Network,
    network_of,
    plain,
    reach,
)

_LABEL = r"(?!-)[a-z0-9_-]{1,63}(?<!-)"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")


@dataclass(frozen=True)
class Hosts:
    """The hosts that ``allowed`` names (all, when it is ``None``); and those of ``private`` may be private.

    ``example.com`` is that host alone, ``*.example.com`` every one below it. ``private`` may also hold
    addresses and networks (``10.0.0.0/8``).
    """

    allowed: tuple[str, ...] | None = None
    private: tuple[str, ...] = ()

    @cached_property
    def _networks(self) -> tuple[Network, ...]:
        return tuple(network for entry in self.private if (network := network_of(entry)) is not None)

    def allows(self, host: str) -> bool:
        """Whether requests may go to ``host`` at all."""
        return self.allowed is None or any(_is_of(host, pattern) for pattern in self.allowed)

    def refusal(self, host: str, address: Address) -> str | None:
        """Why ``address`` is not to be connected to for ``host``; ``None`` when it may be."""
        what = reach(address)
        if what is None or any(_holds(network, address) for network in self._networks):
            return None
        if what in PRIVATE_USE and any(_is_of(host, pattern) for pattern in self.private):
            return None
        return what


def _holds(network: Network, address: Address) -> bool:
    return address in network or plain(address) in network


def _is_of(host: str, pattern: str) -> bool:
    wanted = host_name(pattern.removeprefix("*."))
    name = host_name(host)
    return name.endswith(f".{wanted}") if pattern.startswith("*.") else name == wanted


def host_name(host: str) -> str:
    """``host`` as names are compared: lower case, without a final dot or brackets, in ASCII."""
    name = host.strip("[]").rstrip(".").lower()
    if name.isascii():
        return name
    import idna

    try:
        return idna.encode(name, uts46=True).decode("ascii")
    except idna.IDNAError:
        return name


def url_problem(url: str) -> str | None:
    """What keeps ``url`` from being one that a request may go to, in words; ``None`` when nothing does."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a URL"
    if parts.scheme.lower() not in ("http", "https"):
        return f"has the scheme {parts.scheme[:20]!r}: only http and https are possible"
    if parts.username is not None or parts.password is not None:
        return "holds a user name or password: write them under auth"
    if not parts.hostname or port == 0:
        return "names no host"
    if _UNSAFE.search(url):
        return "holds a space, backslash or control character"
    return None if _is_host(parts) else "names no host that there can be"


def _is_host(parts: SplitResult) -> bool:
    name = host_name(parts.hostname or "")
    if (parts.netloc or "").startswith("["):
        return "%" not in name and network_of(name) is not None
    return len(name) <= 253 and _NAME.fullmatch(name) is not None


def check_url(url: str) -> str:
    """``url`` when it is an http or https URL with a host and no user. Raises ``ValueError``."""
    if (problem := url_problem(url)) is not None:
        raise ValueError(problem)
    return url


def _domain(entry: str) -> str:
    if not _NAME.fullmatch(host_name(entry.removeprefix("*."))) and network_of(entry) is None:
        raise ValueError(f"{entry[:80]!r} is no host: write example.com, or *.example.com for all below it")
    return entry


def _private(entry: str) -> str:
    if network_of(entry) is None:
        _domain(entry)
    return entry


_LENGTH = Limits(least=1, most=300)
Domain = Annotated[str, _LENGTH, AfterValidator(_domain)]
PrivateHost = Annotated[str, _LENGTH, AfterValidator(_private)]


def literal_refusals(hosts: Hosts, url: str) -> Iterator[str]:
    """What is known to be refused of ``url`` before anything is resolved: its host or literal address."""
    host = urlsplit(url).hostname or ""
    if not hosts.allows(host):
        yield f"the host {host!r} is not in allowed_domains"
    network = network_of(host)
    if network is not None and (what := hosts.refusal(host, network.network_address)) is not None:
        yield f"the address {host} is {what}: list it in allow_private if it is meant"
