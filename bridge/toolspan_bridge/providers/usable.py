"""Which providers could answer: those whose key is set, and the local ones."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from ..errors import BridgeError
from .compatible.row import Row
from .compatible.rows import row_names, row_of
from .resolve import known_names, resolve_model

_CREDENTIALS = re.compile(r".+_(API_KEY|ACCESS_TOKEN|AD_TOKEN|BEARER_TOKEN_BEDROCK)|HF_TOKEN")
_UNLISTED = ("offline", "scripted")
_OLLAMA = ("127.0.0.1", 11434)
_PROBE_S = 0.1


def may_have_credentials(environ: Mapping[str, str]) -> bool:
    """Whether a variable looks like a provider's key: cheap, and to be followed by ``usable_providers``."""
    return any(value and _CREDENTIALS.fullmatch(name) for name, value in environ.items())


def may_have_local_server(environ: Mapping[str, str]) -> bool:
    """Whether something listens where a local server of models usually does, or a variable says where."""
    local = [row_of(name) for name in row_names() if is_local(name)]
    variables = {"OLLAMA_HOST", *(name for row in local for name in (row.base, row.host))}
    return any(environ.get(name) for name in variables) or any(
        map(_listens, (_OLLAMA, *(address for row in local for address in _address(row))))
    )


def usable_providers() -> list[str]:
    """The providers with a key, and the local ones, sorted. Nothing is sent, so that none of them need work.

    A provider that is there under several names counts once.
    """
    return [name for name in known_names() if name not in _UNLISTED and _is_first(name) and _connects(name)]


def is_local(name: str) -> bool:
    """Whether the provider is a server of the user's own, which needs no key."""
    return name == "ollama" or (name in row_names() and bool(row_of(name).local))


def _address(row: Row) -> Iterator[tuple[str, int]]:
    parts = urlsplit(row.url)
    if parts.hostname and parts.port:
        yield parts.hostname, parts.port


def _listens(address: tuple[str, int]) -> bool:
    try:
        with socket.create_connection(address, _PROBE_S):
            return True
    except OSError:
        return False


def _is_first(name: str) -> bool:
    """Whether the provider has no other name that is its main one."""
    return name not in row_names() or row_of(name).account in ("", name)


def _connects(name: str) -> bool:
    try:
        resolve_model(f"{name}/-")
    except BridgeError:
        return False
    return True
