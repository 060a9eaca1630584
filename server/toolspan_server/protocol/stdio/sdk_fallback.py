"""The SDK fallback: requests that are not plain go to the SDK's server, imported when it is first needed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio.to_thread

from ...common.sdk_import import importing_sdk
from ..messages import jsonrpc
from ..state.connection_state import ConnectionState
from .client_era import ClientEra, Message

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

    from ..sdk.stream import SdkStream

_log = logging.getLogger(__name__)

_FAILED = "Internal error: the request could not be served"

SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
Answered = Callable[[dict[str, Any] | None], None]


class _Subscription(NamedTuple):
    request_id: jsonrpc.RequestId
    acknowledged: Callable[[], None]


class SdkFallback:
    """One client's session with the SDK's server.

    The server first gets the handshake that ``era`` replays. Requests are sent under ids of their own, so
    that ids that differ only in type (``5`` and ``"5"``) stay distinct. ``on_line`` receives the server's
    notifications and requests.
    """

    def __init__(
        self,
        build: Callable[[], Server[Any]],
        era: ClientEra,
        connection_state: ConnectionState,
        on_line: Callable[[bytes], None],
    ) -> None:
        self._build = build
        self._connection_state = connection_state
        self._on_line = on_line
        self._asked: dict[int, Answered] = {}
        self._subscriptions: dict[int, _Subscription] = {}
        self._count = 0
        self._early: list[Message] | None = []
        self._stream: SdkStream | None = None
        self.over = False
        for message in era.replay():
            if "id" in message:
                self.ask(message, lambda _: None)
            else:
                self.forward(message)

    def start(self) -> None:
        """Start serving in the background. If the server fails, the session is ``over``."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Stop serving; open requests get no answer."""
        self.over = True
        self._asked.clear()
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        try:
            self._stream = await anyio.to_thread.run_sync(self._load, abandon_on_cancel=True)
            early, self._early = self._early or [], None
            for message in early:
                self._pass_on(message)
            await self._stream.run()
        except Exception:
            if not self.over:
                _log.exception("the SDK's server failed")
        self.over = True
        asked, self._asked = self._asked, {}
        for answered in asked.values():
            answered(jsonrpc.error(None, jsonrpc.INTERNAL_ERROR, _FAILED))

    def ask(
        self, request: Message, answered: Answered, acknowledged: Callable[[], None] = lambda: None
    ) -> int:
        """Have the server answer ``request``; ``answered`` gets the response, or ``None`` if there is none.

        ``acknowledged`` is called when ``request`` turns out to be a subscription.
        """
        self._count += 1
        self._asked[self._count] = answered
        if request["method"] == "subscriptions/listen":
            self._subscriptions[self._count] = _Subscription(request["id"], acknowledged)
        self.forward({**request, "id": self._count})
        return self._count

    def forward(self, message: Message) -> None:
        """Forward a message that is not a request."""
        if self._early is not None:
            self._early.append(message)
        elif not self.over:
            self._pass_on(message)

    def cancel(self, number: int, notification: Message) -> None:
        """Forward the cancellation of the request that ``ask`` returned ``number`` for."""
        self.forward({**notification, "params": {**notification["params"], "requestId": number}})

    def _load(self) -> SdkStream:
        with importing_sdk():
            from ..sdk.stream import SdkStream

        return SdkStream(self._build(), self._connection_state, self._server_message)

    def _pass_on(self, message: Message) -> None:
        assert self._stream is not None
        if "method" in message and "id" in message:
            number: int = message["id"]

            async def unanswered() -> None:
                self._answer(number, None)

            self._stream.deliver(message, unanswered)
        else:
            self._stream.deliver(message)

    def _server_message(self, message: dict[str, Any]) -> None:
        if "method" in message:
            self._on_line(jsonrpc.encode(self._subscribed(message) if self._subscriptions else message))
        else:
            self._answer(message["id"], message)

    def _subscribed(self, notification: dict[str, Any]) -> dict[str, Any]:
        """``notification`` with the client's id of its subscription."""
        params: dict[str, Any] = notification.get("params") or {}
        meta: dict[str, Any] = params.get("_meta") or {}
        subscription = self._subscriptions.get(meta.get(SUBSCRIPTION_KEY, 0))
        if subscription is None:
            return notification
        if notification["method"] == "notifications/subscriptions/acknowledged":
            subscription.acknowledged()
        known = {**meta, SUBSCRIPTION_KEY: subscription.request_id}
        return {**notification, "params": {**params, "_meta": known}}

    def _answer(self, number: int, answer: dict[str, Any] | None) -> None:
        self._subscriptions.pop(number, None)
        answered = self._asked.pop(number, None)
        if answered is not None:
            answered(answer)


def under(request_id: jsonrpc.RequestId, answer: Mapping[str, Any]) -> bytes:
    """``answer`` as the line that answers ``request_id``."""
    body = {key: value for key, value in answer.items() if key not in ("jsonrpc", "id")}
    return jsonrpc.encode({"jsonrpc": "2.0", "id": request_id, **body})
