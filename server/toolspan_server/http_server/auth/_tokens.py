"""Static bearer tokens, kept as their SHA-256 only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from ...common.regular_files import open_regular
from ...config import Problem
from ...config.models.auth import TokenConfig
from ...errors import ConfigError
from ._principal import Principal, with_implied

_MOST_BYTES = 4 * 1024 * 1024
_LINE = re.compile(r"(?P<name>[A-Za-z0-9_.@-]{1,64}):(?P<digest>[0-9a-fA-F]{64})")
_HINT = "write NAME:SHA256, the digest as toolspan-server --hash-token prints it"

Digests = dict[bytes, Principal]
"""Principals by the SHA-256 of their tokens.

A token is looked up by its digest: how long that takes tells nothing about any token but to those
who have it.
"""


def hashed(token: bytes) -> bytes:
    """What a token is known by. Tokens are random and long, so that a plain hash keeps them secret."""
    return sha256(token).digest()


def static_tokens(
    tokens: Iterable[TokenConfig],
    directory: Path,
    implies: Mapping[str, tuple[str, ...]],
    endpoint: str | None = None,
    granted: Iterable[str] = (),
) -> Digests:
    """The principals of ``tokens``, each with the scopes ``granted`` as well as its own.

    Files are read, relative to ``directory``. Raises ``ConfigError``.
    """
    digests: Digests = {}
    for token in tokens:
        scopes = with_implied(frozenset(token.scopes).union(granted), implies)
        for name, digest in _entries(token, directory):
            # A toolset's "ann" is not the server's "ann".
            identity = f"token {name}" if endpoint is None else f"token {name} {endpoint}"
            digests[digest] = Principal(identity.encode(), scopes, endpoint=endpoint)
    return digests


def _entries(token: TokenConfig, directory: Path) -> Iterator[tuple[str, bytes]]:
    if token.file is not None:
        yield from _read(directory / token.file)
    elif token.sha256 is not None:
        yield token.name or "", bytes.fromhex(token.sha256)
    else:
        yield token.name or "", hashed((token.token or "").encode())


def _read(path: Path) -> Iterator[tuple[str, bytes]]:
    text = _text(path)
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        match = _LINE.fullmatch(entry)
        if match is None:
            raise _wrong(path, number, "is no name and SHA-256", _HINT)
        if match["name"] in seen:
            raise _wrong(path, number, f"the name {match['name']!r} is there twice", "keep one of them")
        seen.add(match["name"])
        yield match["name"], bytes.fromhex(match["digest"])


def _text(path: Path) -> str:
    try:
        with open_regular(path) as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise _wrong(path, 0, f"has more than {_MOST_BYTES:,} bytes", "divide it")
        return data.decode("utf-8-sig")
    except OSError as fault:
        raise _wrong(path, 0, f"cannot be read: {fault.strerror}", "correct auth.tokens") from None
    except UnicodeDecodeError:
        raise _wrong(path, 0, "is no UTF-8 text", _HINT) from None


def _wrong(path: Path, line: int, message: str, hint: str) -> ConfigError:
    return ConfigError([Problem(str(path), line, 1 if line else 0, "", f"tokens: {message}", hint)])
