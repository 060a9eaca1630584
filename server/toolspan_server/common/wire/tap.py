"""Where what goes over a wire is told, if anybody wants to see it: with ``--debug``, and never else."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

_HOLDS_SECRET = re.compile(r"auth|cookie|key|token|secret|signature|credential|session", re.IGNORECASE)
_SHORTEST = 8
_SIGNED = "AWS4-"
_PART = re.compile(r"[^\s;,=]+")


@dataclass(frozen=True, slots=True)
class WireMessage:
    """What was ``sent`` to ``peer``, or came from it: ``head`` on one line, and the ``body`` as it was.

    ``redact`` takes out the secrets that only the one who tells it knows. ``kind`` is the media type of the
    body, where there is one.
    """

    peer: str
    sent: bool
    head: str
    body: str | bytes = b""
    kind: str = ""
    redact: Callable[[str], str] = str


class WireTap(Protocol):
    """Is told what goes over the wires. What it is told is whole and has its secrets still."""

    def message(self, message: WireMessage) -> None:
        """Take a message."""

    def secrets(self, values: Iterable[str]) -> None:
        """Never show ``values``, also where they come back in a body."""


on_wire: ContextVar[WireTap | None] = ContextVar("on_wire", default=None)
"""Who is told of what goes over the wires of this task and those that it begins; ``None``: nobody."""


def secrets_of_headers(headers: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The values of ``headers`` that may be secret, and their parts: of ``Bearer abc`` also ``abc``, of a
    cookie its value, of ``Basic …`` the password."""
    for name, value in headers:
        if not _HOLDS_SECRET.search(name):
            continue
        yield value
        if value.startswith(_SIGNED):
            continue  # its parts are names and the date
        yield from (part for part in _PART.findall(value) if len(part) >= _SHORTEST)
        scheme, _, encoded = value.partition(" ")
        if scheme.lower() == "basic":
            yield from _password(encoded)


def _password(encoded: str) -> Iterator[str]:
    try:
        yield b64decode(encoded, validate=True).decode().partition(":")[2]
    except ValueError:
        return
