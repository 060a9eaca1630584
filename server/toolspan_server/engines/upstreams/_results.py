"""What a server answers to a call, as plain data; and what it means when it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class UpstreamResult:
    """What a server answered to one call, as plain data.

    ``structured`` is given when ``has_structured``; ``wraps`` says that the protocol's revision allows only
    objects there.
    """

    content: Sequence[Mapping[str, Any]]
    is_error: bool = False
    structured: Any = None
    has_structured: bool = False
    wraps: bool = False
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class InputNeeded:
    """The call is to be made again, with the results of ``requests`` and with ``state``.

    ``requests`` are ``{"method": …, "params": …}`` by key (MCP 2026-07-28, multi round-trip requests).
    """

    requests: Mapping[str, Mapping[str, Any]]
    state: str | None = None


@dataclass(frozen=True, slots=True)
class InputResponses:
    """What a call that is made again brings: the results of the requests by key, and the state."""

    responses: Mapping[str, Any] = field(default_factory=dict[str, Any])
    state: str | None = None


CONNECTION_CLOSED = -32000
"""The code of a ``PeerError`` that no server sent: the connection ended before it answered."""


class PeerError(Exception):
    """The other side answered a request with a JSON-RPC error, or not at all any more."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def is_end(self) -> bool:
        """Whether it is not there any more."""
        return self.code == CONNECTION_CLOSED and self.message == "Connection closed"


class CallRefused(Exception):
    """The server answered a call with a JSON-RPC error. The message is without secrets."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def is_invalid(self) -> bool:
        """Whether the server finds the arguments wrong."""
        return self.code == -32602


class NoResult(Exception):
    """What the server answered is no result of a tool."""


class ServerGone(Exception):
    """The server is not there, or went away during the call. The message has the known details.

    That is ``what``, and ``detail``: words of the system and of the program, paths perhaps.
    """

    def __init__(self, what: str, detail: str = "") -> None:
        super().__init__(f"{what}: {detail}" if detail else what)
        self.what = what
        self.detail = detail
