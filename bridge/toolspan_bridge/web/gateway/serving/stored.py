"""Responses that were stored (``GET`` and ``DELETE /v1/responses/ID``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..apis import RESPONSES
from ..faults import RequestFault
from ..history.hidden import Hidden
from ..openai_responses.render import RESPONSE_PREFIX
from .caller import Who
from .running import Runs
from .sending import send_json

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

__all__ = ["StoredResponse"]


class StoredResponse:
    """The ASGI endpoint: a response of the one who asks as it was given, or its end."""

    def __init__(self, runs: Runs, who: Who) -> None:
        self._runs = runs
        self._who = who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        from starlette.requests import Request

        request = Request(scope, receive)
        wanted, principal = str(request.path_params["response"]), self._who(request).principal
        try:
            stored = self._stored(principal, wanted)
        except RequestFault:
            why = f"Response with id {wanted[:100]!r} not found: it was not stored, or is no longer"
            told = RequestFault(why, status=404, code="not_found", param="response_id")
            await send_json(send, RESPONSES.render_error(told), told.status)
            return
        if request.method == "DELETE":
            self._runs.forget(principal, wanted)
            await send_json(send, {"id": wanted, "object": "response", "deleted": True})
            return
        await send_json(send, stored.body)

    def _stored(self, principal: str, wanted: str) -> Hidden:
        if not wanted.startswith(RESPONSE_PREFIX):
            raise RequestFault("it is the id of a message")
        return self._runs.earlier(principal)(wanted)
