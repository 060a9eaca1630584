"""Requests that ask no model, written down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...activity import About, Activity, Began
from .caller import Who

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Recorded"]


class Recorded:
    """The ASGI ``endpoint``, each of whose requests is recorded in ``activity`` with who made it."""

    def __init__(self, endpoint: ASGIApp, activity: Activity, who: Who) -> None:
        self._endpoint = endpoint
        self._activity = activity
        self._who = who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        from starlette.requests import Request

        caller, began, status = self._who(Request(scope)), Began(), 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._endpoint(scope, receive, noted)
        finally:
            failed: dict[str, Any] = {"status": "error", "error_code": f"http_{status or 500}"}
            about = About(caller.principal, scope["path"], caller.key_name)
            self._activity.requested(about, began, **({} if 0 < status < 400 else failed))
