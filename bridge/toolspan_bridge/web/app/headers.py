"""The headers that every answer carries: what browsers may do with it."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolspan_server.http_server.asgi import App, Header, Receive, Scope, Send

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
"""No script, style or connection but our own, and none that stands in a page itself."""

_ALWAYS: dict[bytes, bytes] = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_NOT_KEPT = (b"cache-control", b"no-store")


def with_headers(app: App) -> App:
    """``app``, its answers with these headers; they are not to be kept unless they say otherwise."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def noted(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers: list[Header] = list(message.get("headers", ()))
                names = {name.lower() for name, _ in headers}
                headers += [(name, value) for name, value in _ALWAYS.items() if name not in names]
                if b"cache-control" not in names:
                    headers.append(_NOT_KEPT)
                message["headers"] = headers
            await send(message)

        await app(scope, receive, noted)

    return answer
