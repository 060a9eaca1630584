"""``subscriptions/listen``, and ``resources/subscribe`` before it. Importing this module imports ``mcp``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Notification,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    UnsubscribeRequestParams,
)

from ...common.changes import Change
from ...engines.uri_templates import LONGEST_URI
from ...errors import RequestRefused
from ...live.views import ServerView
from ..change_notifications import METHODS
from ..clients import (
    RequestContext,
    principal,
    refusals,
    rendered,
)
from ..messages.capabilities import capabilities
from ..state.connection_state import MOST_URIS, ConnectionState
from ..state.task import Task
from ..state.tasks import Tasks
from .tasks import require_extension

MOST_STREAMS = 1_024
_LISTS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}


def register(server: Server[Any], view: ServerView, tasks: Tasks) -> Callable[[], None]:
    """Let clients of ``server`` subscribe to changes of ``view`` and of ``tasks``.

    What this gives ends every subscription, as the end of the server does.
    """
    streams: set[_Stream] = set()

    async def listen(context: RequestContext, params: SubscriptionsListenRequestParams) -> dict[str, Any]:
        if len(streams) >= MOST_STREAMS:
            raise _too_many(f"{MOST_STREAMS:,} subscriptions are open")
        wanted = params.notifications.model_dump(by_alias=True, exclude_none=True)
        with refusals():
            honoured = _honoured(wanted, context, view, tasks)
            await _follow(view, honoured)
            stream = _Stream(context, honoured)
        streams.add(stream)
        try:
            return await stream.run(view, tasks)
        finally:
            streams.discard(stream)

    async def subscribe(context: RequestContext, params: SubscribeRequestParams) -> dict[str, Any]:
        connection_state = _connection_state(context, view)
        if len(connection_state.uris) >= MOST_URIS:
            raise _too_many(f"{MOST_URIS:,} resources are watched")
        if len(uri := str(params.uri)) > LONGEST_URI:
            raise MCPError(INVALID_PARAMS, f"A URI has {LONGEST_URI:,} characters at most")
        connection_state.uris.add(uri)
        if view.resources is not None:
            await view.resources.follow(uri)
        return {}

    async def unsubscribe(context: RequestContext, params: UnsubscribeRequestParams) -> dict[str, Any]:
        _connection_state(context, view).uris.discard(str(params.uri))
        return {}

    server.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, listen)
    server.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)

    def close() -> None:
        for stream in streams:
            stream.close()

    return close


class _Stream:
    """One ``subscriptions/listen``. What changed and is not yet sent is kept once, so it is bounded."""

    def __init__(self, context: RequestContext, honoured: Mapping[str, Any]) -> None:
        self._session = context.session
        self._id = context.request_id
        self._meta = {SUBSCRIPTION_ID_META_KEY: self._id}
        self._honoured = honoured
        self._uris = frozenset(honoured.get("resourceSubscriptions", ()))
        self._task_ids = frozenset(honoured.get("taskIds", ()))
        self._owed: dict[Change | Task, None] = {}
        self._woken = asyncio.Event()
        self._closed = False

    def close(self) -> None:
        """End the stream, once pending notifications are sent."""
        self._closed = True
        self._woken.set()

    async def run(self, view: ServerView, tasks: Tasks) -> dict[str, Any]:
        """Acknowledge, then notify of each change, until the client leaves or the stream is closed."""
        with ExitStack() as subscribed:
            subscribed.callback(view.runtime.changes.subscribe(self._note))
            subscribed.callback(tasks.subscribe(self._note_task))
            honoured = {"notifications": dict(self._honoured)}
            await self._send("notifications/subscriptions/acknowledged", honoured)
            while not self._closed:
                await self._woken.wait()
                self._woken.clear()
                owed, self._owed = self._owed, {}
                for change in owed:
                    await self._publish(change)
        return {"resultType": "complete", "_meta": self._meta}

    async def _publish(self, change: Change | Task) -> None:
        if isinstance(change, Task):
            await self._send("notifications/tasks", change.detailed(rendered))
        else:
            await self._send(METHODS[change.of], {"uri": change.uri} if change.of == "resource" else {})

    async def _send(self, method: str, params: Mapping[str, Any]) -> None:
        notification: Any = Notification[dict[str, Any], str](
            method=method, params={**params, "_meta": self._meta}
        )
        await self._session.send_notification(notification, self._id)

    def _note(self, change: Change) -> None:
        wanted = change.uri in self._uris if change.of == "resource" else _LISTS[change.of] in self._honoured
        if wanted:
            self._owe(change)

    def _note_task(self, task: Task) -> None:
        if task.id in self._task_ids:
            self._owe(task)

    def _owe(self, change: Change | Task) -> None:
        self._owed[change] = None
        self._woken.set()


def _honoured(
    wanted: Mapping[str, Any], context: RequestContext, view: ServerView, tasks: Tasks
) -> dict[str, Any]:
    """The announced part of ``wanted``. Raises ``RequestRefused`` for tasks without the extension."""
    offered = capabilities(view, modern=True)
    honoured: dict[str, Any] = {
        flag: True for of, flag in _LISTS.items() if wanted.get(flag) is True and of in offered
    }
    if wanted.get("resourceSubscriptions") and "resources" in offered:
        uris = [uri for uri in wanted["resourceSubscriptions"] if len(uri) <= LONGEST_URI]
        honoured["resourceSubscriptions"] = uris[:MOST_URIS]
    if wanted.get("taskIds"):
        require_extension(context)
        honoured["taskIds"] = [each for each in _texts(wanted["taskIds"]) if _exists(tasks, each, context)]
    return honoured


async def _follow(view: ServerView, honoured: Mapping[str, Any]) -> None:
    """Have whoever has the resources tell of their changes."""
    for uri in honoured.get("resourceSubscriptions", ()):
        if view.resources is not None:
            await view.resources.follow(uri)


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    return [each for each in value[:MOST_URIS] if isinstance(each, str)]  # pyright: ignore[reportUnknownVariableType]  # any JSON


def _exists(tasks: Tasks, task_id: str, context: RequestContext) -> bool:
    try:
        tasks.find(task_id, principal(context))
    except RequestRefused:
        return False
    return True


def _connection_state(context: RequestContext, view: ServerView) -> ConnectionState:
    if "resources" not in capabilities(view, modern=False):
        raise MCPError(code=METHOD_NOT_FOUND, message="Method not found", data=context.method)
    connection_state: ConnectionState = context.lifespan_context
    if not connection_state.lasting:
        message = f"{context.method} needs a session: send initialize first"
        raise MCPError(code=INVALID_REQUEST, message=message)
    return connection_state


def _too_many(what: str) -> MCPError:
    return MCPError(code=INTERNAL_ERROR, message=f"{what} already, which is the most")
