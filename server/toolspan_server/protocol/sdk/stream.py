"""A conversation with the SDK's server over memory streams. Importing this module imports ``mcp``."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from anyio.abc import ObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError
from typing_extensions import override

from ..state.connection_state import ConnectionState


class SdkStream(ObjectSendStream[SessionMessage]):
    """What the SDK's server reads from and writes to. ``on_message`` gets each message that it writes.

    ``connection_state`` is what its handlers know of the connection.
    """

    def __init__(
        self,
        server: Server[Any],
        connection_state: ConnectionState,
        on_message: Callable[[dict[str, Any]], None],
    ) -> None:
        self._server = server
        self._connection_state = connection_state
        self._on_message = on_message
        self._sender, self._receiver = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)

    async def run(self) -> None:
        """Serve until cancelled."""
        with self._sender, self._receiver:
            await serve_dual_era_loop(
                self._server, self._receiver, self, lifespan_state=self._connection_state
            )

    def deliver(
        self, message: Mapping[str, Any], unanswered: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Deliver ``message`` to the server; a request that is cancelled ends in ``unanswered``."""
        try:
            item = jsonrpc_message_adapter.validate_python(message, by_name=False)
        except ValidationError:
            return  # a malformed answer to a question that was never asked
        self._sender.send_nowait(
            SessionMessage(item, ServerMessageMetadata(on_request_unanswered=unanswered))
        )

    @override
    async def send(self, item: SessionMessage) -> None:
        """Take a message of the server's."""
        self._on_message(item.message.model_dump(by_alias=True, mode="python", exclude_unset=True))

    @override
    async def aclose(self) -> None:
        """Nothing to close."""
