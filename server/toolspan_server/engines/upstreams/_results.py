"""What a server answers to a call, as plain data; and what it means when it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class UpstreamResult:
    """What a server answered to one call, as plain data.

    ``structured`` is given when ``has_structured``; ``wraps`` says that the protocol's revision allows only
    objects there. With a ``task`` there is no content yet: the call runs on as that (``taskId`` …), which
    only clients get that declare the extension.
    """

    content: Sequence[Mapping[str, Any]]
    is_error: bool = False
    structured: Any = None
    has_structured: bool = False
    wraps: bool = False
    meta: Mapping[str, Any] | None = None
    task: Mapping[str, Any] | None = None


def result_of(result: Any) -> UpstreamResult:
    """A result as 2026-07-28 writes it, of a call or a task. Raises ``ValueError`` if it is none."""
    given: Mapping[str, Any] = cast("Any", result) if isinstance(result, Mapping) else {}
    if given.get("resultType") == "task" and isinstance(given.get("taskId"), str):
        return UpstreamResult([], task=given)
    content = given.get("content")
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in cast("Any", content)):
        raise ValueError("an answer without content")
    return UpstreamResult(
        content=cast("list[dict[str, Any]]", content),
        is_error=given.get("isError") is True,
        structured=given.get("structuredContent"),
        has_structured="structuredContent" in given,
        meta=given.get("_meta"),
    )


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

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def is_end(self) -> bool:
        """Whether it is not there any more."""
        return self.code == CONNECTION_CLOSED and self.message == "Connection closed"


class UnusableAnswer(ValueError):
    """The other side sent something in place of an answer. The message goes on from its name: ``sent …``."""


class CallRefused(Exception):
    """The server answered a request with a JSON-RPC error. The message is without secrets; ``data`` is what
    the server added to it, any JSON."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def is_invalid(self) -> bool:
        """Whether the server finds the arguments wrong."""
        return self.code == -32602


class NotAuthorized(Exception):
    """The server lets nobody in, or not for this call, who has not signed in; the message says what to do."""


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
