"""Tells a session of the SDK's server what changes. Importing this module imports ``mcp``."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification

from ...live.views import ServerView
from ..change_notifications import Announcements
from ..state.connection_state import ConnectionState


async def announce(view: ServerView, connection_state: ConnectionState, outgoing: Any) -> None:
    """Tell a session what changes, on its stream for what nobody asked, until it ends."""
    woken = asyncio.Event()
    announcements = Announcements(view, connection_state, woken.set)
    try:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            while True:
                await woken.wait()
                woken.clear()
                for notification in announcements.take():
                    await outgoing.send(SessionMessage(JSONRPCNotification.model_validate(notification)))
    finally:
        announcements.close()
