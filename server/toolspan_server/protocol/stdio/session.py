"""One client's requests and their answers, independent of the transport."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ...calls.caller import Origin
from ...common.eager_tasks import EagerTasks
from ...common.lines import Overlong
from ...live.views import ServerView
from ..change_notifications import Announcements
from ..fast_path import Call, FastPath
from ..messages import jsonrpc
from ..messages.batches import Batch
from ..messages.named_principals import named, refuse_named
from ..state.connection_state import ConnectionState
from ..state.running_calls import Calls
from .client_era import ClientEra, Message, plain_answer
from .sdk_fallback import SUBSCRIPTION_KEY, SdkFallback, under

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

_log = logging.getLogger(__name__)

_BATCHING_VERSION = "2025-03-26"
_TAKEN = "Invalid Request: a request with this id is still running"
_FAILED = "Internal error: the request could not be served"
_STOPPED = -32000

SendReply = Callable[[bytes | None], None]


class _Open:
    """A request without an answer yet: answered here (``task``), or by the SDK (``number``)."""

    __slots__ = ("cancelled", "listens", "number", "reply", "size", "started", "task")

    def __init__(self, reply: SendReply, size: int) -> None:
        self.reply = reply
        self.size = size
        self.listens = False
        self.task: asyncio.Task[None] | None = None
        self.number: int | None = None
        self.started = False
        self.cancelled = False


class StdioSession:
    """Gives every request to ``view`` exactly one answer, by the fast path or the SDK fallback.

    Answers go to ``send``, a line at a time; ``settled`` is called after each one that was not immediate, and
    whenever a request no longer needs one. ``build`` makes the SDK's server. Without ``plain`` everything
    goes to the SDK. ``era`` is the client's era and handshake so far. With ``names_principals`` the client
    speaks for several people, and each request names one; else they are all of the local user.
    """

    def __init__(
        self,
        view: ServerView,
        calls: Calls,
        build: Callable[[], Server[Any]],
        send: Callable[[bytes], None],
        settled: Callable[[], None],
        *,
        plain: bool = True,
        era: ClientEra | None = None,
        names_principals: bool = False,
    ) -> None:
        self._fast_path = FastPath(view, previews=True)
        self._calls = calls
        self._build = build
        self._send = send
        self._settled = settled
        self._plain = plain
        self._names_principals = names_principals
        self._era = era or ClientEra()
        self._connection_state = ConnectionState()
        self._announcements = Announcements(view, self._connection_state, settled)
        self._open: dict[jsonrpc.RequestId, _Open] = {}
        self._long: SdkFallback | None = None
        self._eager = EagerTasks()
        self._listens = 0
        self.waiting_bytes = 0

    @property
    def waiting(self) -> int:
        """The number of requests without an answer, except subscriptions, which the client ends."""
        return len(self._open) - self._listens

    def announce(self) -> None:
        """Send change notifications to the client, if its era has unsolicited ones."""
        if not self._announcements.owed:
            return
        notifications = self._announcements.take()
        if self._era.confirmed:
            for each in notifications:
                self._send(jsonrpc.encode(each))

    def receive(self, line: bytes | Overlong) -> None:
        """Process a line. Raises nothing: every error is answered."""
        try:
            parsed = jsonrpc.parse(line)
            if parsed is None:
                return
            value: Any = parsed[0]
            if isinstance(value, list) and self._era.version == _BATCHING_VERSION:
                self._take_batch(value, len(line))  # pyright: ignore[reportUnknownArgumentType]  # any JSON
            else:
                self._take(jsonrpc.checked(value), self._write, len(line))
        except jsonrpc.Refusal as refusal:
            self._send(jsonrpc.encode(refusal.answer()))
        except Exception:
            _log.exception("a line could not be served")
            self._send(jsonrpc.encode(jsonrpc.error(None, jsonrpc.INTERNAL_ERROR, _FAILED)))

    def abandon(self, reason: str) -> None:
        """Stop whatever still runs and answer it with an error."""
        for request_id, request in list(self._open.items()):
            if request.task is not None:
                request.task.cancel()
            if request.listens:
                answer = _unsubscribed(request_id)
            else:
                answer = jsonrpc.error(request_id, _STOPPED, reason)
            self._settle(request_id, request, jsonrpc.encode(answer))

    async def close(self) -> None:
        """End the session with the SDK's server, if there is one."""
        self._announcements.close()
        if self._long is not None:
            await self._long.close()

    def _write(self, answer: bytes | None) -> None:
        if answer is not None:
            self._send(answer)

    def _forward_sdk_line(self, line: bytes) -> None:
        """Forward a notification or request of the SDK to the client."""
        self._send(line)
        self._settled()

    def _take_batch(self, items: list[Any], size: int) -> None:
        batch = Batch(items, self._send)
        for item in items:
            reply: SendReply = batch.add
            try:
                message = batch.checked(item)
                reply = batch.reply_to(message)
                self._take(message, reply, size // len(items))
            except jsonrpc.Refusal as refusal:
                reply(jsonrpc.encode(refusal.answer()))
        batch.seal()

    def _take(self, message: Message, reply: SendReply, size: int) -> None:
        if "id" in message and "method" in message:
            self._request(message, reply, size)
        elif "method" not in message:
            if self._long is not None:
                self._long.forward(message)
        else:
            self._notification(message)

    def _request(self, message: Message, reply: SendReply, size: int) -> None:
        request_id: jsonrpc.RequestId = message["id"]
        if request_id in self._open:
            raise jsonrpc.Refusal(jsonrpc.INVALID_REQUEST, _TAKEN, request_id)
        try:
            self._begin(message, reply, size)
        except jsonrpc.Refusal:
            raise
        except Exception:
            _log.exception("a request could not be served")
            failed = self._open.pop(request_id, None)
            if failed is not None:
                self._listens -= failed.listens
                self.waiting_bytes -= failed.size
            reply(jsonrpc.encode(jsonrpc.error(request_id, jsonrpc.INTERNAL_ERROR, _FAILED)))

    def _begin(self, message: Message, reply: SendReply, size: int) -> None:
        principal = self._principal(message)
        self._era.meet(message)
        answer = self._plain_answer(message) if self._plain else None
        if isinstance(answer, bytes):
            reply(answer)
            return
        request = self._open[message["id"]] = _Open(reply, size)
        self.waiting_bytes += size
        if answer is None:
            self._ask(message, request)
        else:
            request.task = self._eager.start(
                self._make(answer, request, Origin(principal, client=self._era.client))
            )

    def _principal(self, message: Message) -> str | None:
        if self._names_principals:
            return named(message)
        refuse_named(message)
        return None

    def _plain_answer(self, message: Message) -> bytes | Call | None:
        if self._long is not None and message["method"] == "initialize":
            return None
        return plain_answer(self._fast_path, self._era, message)

    async def _make(self, call: Call, request: _Open, origin: Origin) -> None:
        request.started = True
        answer: bytes | None = None
        try:
            answer = await self._calls.run(partial(call.run, origin), call.tool.timeout_ms)
        except asyncio.CancelledError:
            pass  # the task has no waiter, and the canceller knows what to answer
        except Exception:
            _log.exception("a call failed")
            answer = jsonrpc.encode(jsonrpc.error(call.request_id, jsonrpc.INTERNAL_ERROR, _FAILED))
        self._settle(call.request_id, request, None if request.cancelled else answer)

    def _ask(self, message: Message, request: _Open) -> None:
        """Send a request to the SDK. While a handshake is being answered, all later requests go there too."""
        if self._long is None or self._long.over:
            self._long = SdkFallback(self._build, self._era, self._connection_state, self._forward_sdk_line)
            self._long.start()
        before = self._era.version
        opening = message["method"] == "initialize" and not self._era.modern
        if opening:
            self._era.version = None

        def answered(answer: dict[str, Any] | None) -> None:
            if opening:
                result = (answer or {}).get("result")
                if result is None:
                    self._era.version = before
                else:
                    self._era.settle(message, result["protocolVersion"])
            request_id = message["id"]
            self._settle(request_id, request, None if answer is None else under(request_id, answer))

        def acknowledged() -> None:
            request.listens = True
            self._listens += 1

        request.number = self._long.ask(message, answered, acknowledged)

    def _settle(self, request_id: jsonrpc.RequestId, request: _Open, answer: bytes | None) -> None:
        if self._open.get(request_id) is request:
            del self._open[request_id]
            self._listens -= request.listens
            self.waiting_bytes -= request.size
            request.reply(answer)
            self._settled()

    def _notification(self, message: Message) -> None:
        method = message["method"]
        if method == "notifications/cancelled":
            self._cancel(message)
            return
        if method == "notifications/initialized":
            self._era.confirm(message)
        if self._long is not None:
            self._long.forward(message)

    def _cancel(self, message: Message) -> None:
        """MCP 2025-11-25, basic/utilities/cancellation: unknown and finished requests are ignored."""
        request_id = cast("Message", message.get("params") or {}).get("requestId")
        if isinstance(request_id, bool) or not isinstance(request_id, int | str):
            return
        request = self._open.get(request_id)
        if request is None:
            return
        if request.task is not None:
            request.cancelled = True
            request.task.cancel()
            if not request.started:
                self._settle(request_id, request, None)
        elif self._long is not None and request.number is not None:
            self._long.cancel(request.number, message)


def _unsubscribed(request_id: jsonrpc.RequestId) -> dict[str, Any]:
    """The end of a subscription that is no failure (MCP 2026-07-28, basic/patterns/subscriptions)."""
    meta = {SUBSCRIPTION_KEY: request_id}
    return {"jsonrpc": "2.0", "id": request_id, "result": {"resultType": "complete", "_meta": meta}}
