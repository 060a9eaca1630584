"""The checks by which a connection refuses a request itself, before any app sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..asgi import RefusedResponse

if TYPE_CHECKING:
    from httptools import HttpRequestParser

    from ...config import LimitsConfig

_VERSIONS = frozenset({"1.0", "1.1"})
MOST_WAITING = 64
"""How many requests may be queued on one connection."""

CROWDED = RefusedResponse(429, f"Too much waits on this connection: at most {MOST_WAITING} requests may")
UNREADABLE = RefusedResponse(400, "This is no HTTP/1.1 request")
NO_PROXY = RefusedResponse(400, "CONNECT asks for a tunnel, and this is no proxy")
DISPLACED = RefusedResponse(
    503, "This request came too slowly: its place went to another (limits.connections)"
)
UNASKED = "Closed a connection that asked nothing: its place went to another (limits.connections)"


class RequestRejected(Exception):
    """Raised through the parser, which stops then."""

    def __init__(self, refused: RefusedResponse) -> None:
        super().__init__(refused.message)
        self.refused = refused


class Begun(Protocol):
    """A connection with a request whose head may not be whole."""

    scope: Any
    url: bytes


def known_scope(connection: Begun) -> dict[str, Any]:
    """The scope of its request, as far as it is known: of a head that is not whole the path alone."""
    if not connection.scope:
        return {}
    path = connection.url.partition(b"?")[0].decode("latin-1")
    return {"path": path, **connection.scope}


class Refusals:
    """The refusals that name a limit."""

    def __init__(self, limits: LimitsConfig) -> None:
        self.head_too_large = RefusedResponse(
            431,
            f"The head of a request is at most {limits.header_bytes} bytes (limits.header_bytes) "
            f"and {limits.headers} headers (limits.headers)",
        )
        self.body_too_large = RefusedResponse(
            413, f"A body is at most {limits.message_bytes} bytes (limits.message_bytes)"
        )
        self.late_head = RefusedResponse(
            408, f"The head took longer than {limits.head_seconds} s (limits.head_seconds)"
        )
        self.late_body = RefusedResponse(
            408, f"The body took longer than {limits.body_seconds} s (limits.body_seconds)"
        )
        self.too_many_bodies = RefusedResponse(
            503,
            f"The bodies of all requests take more than {limits.bodies_bytes:,} bytes together "
            "(limits.bodies_bytes); try again later",
        )


class HeadChecks:
    """The checks of a request's head: within the limits, of a supported version, and framed in only one way.

    Both methods raise ``RequestRejected``.
    """

    def __init__(self, limits: LimitsConfig, refusals: Refusals) -> None:
        self._limits = limits
        self._refusals = refusals

    def check_header(self, name: bytes, value: bytes, size: int, count: int) -> None:
        """Check one header; with it the head has ``size`` bytes and ``count`` headers."""
        limits = self._limits
        if size > limits.header_bytes or count > limits.headers:
            raise RequestRejected(self._refusals.head_too_large)
        if name == b"content-length":
            if int(value) > limits.message_bytes:
                raise RequestRejected(self._refusals.body_too_large)
        elif name == b"transfer-encoding" and value.strip().lower() != b"chunked":
            raise RequestRejected(RefusedResponse(400, "Transfer-Encoding must be chunked"))

    def check_head(self, parser: HttpRequestParser, target: bytes, size: int) -> None:
        """Check the complete head, whose headers have ``size`` bytes."""
        if parser.get_http_version() not in _VERSIONS:
            raise RequestRejected(RefusedResponse(505, "HTTP/1.1 is spoken here"))
        if parser.get_method() == b"CONNECT":
            raise RequestRejected(NO_PROXY)
        if not target.startswith(b"/"):
            raise RequestRejected(RefusedResponse(400, "The target of a request must be a path"))
        if size + len(target) > self._limits.header_bytes:
            raise RequestRejected(self._refusals.head_too_large)
