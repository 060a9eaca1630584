"""The token of clients that send it as ``x-api-key``, as Anthropic's do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolspan_server.http_server.asgi import App, Receive, Scope, Send

_UNDER = "/v1/"


def with_api_keys(app: App) -> App:
    """``app``, for which an ``x-api-key`` of the gateway's paths is a bearer token, where there is no
    other."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(_UNDER):
            keys = [value for name, value in scope["headers"] if name == b"x-api-key"]
            if len(keys) == 1 and all(name != b"authorization" for name, _ in scope["headers"]):
                scope = {**scope, "headers": [*scope["headers"], (b"authorization", b"Bearer " + keys[0])]}
        await app(scope, receive, send)

    return answer
