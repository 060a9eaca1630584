"""Subscribes to changes of tools where servers notify only subscribers (MCP 2026-07-28, subscriptions)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from mcp.client.session import ClientSession

    from ._channel import Channel

_PAUSE_SECONDS = 5.0
_ATTEMPTS = 5


async def hear_of_changes(session: ClientSession, channel: Channel) -> None:
    """Set ``channel.changed`` when the server's tools change, until cancelled or the server refuses.

    A subscription that ends is opened again, a few times in a row at most; the tools are then listed anew.
    Before 2026-07-28 servers notify without a subscription: nothing to do here.
    """
    capabilities = session.server_capabilities
    tells = capabilities is not None and capabilities.tools is not None and capabilities.tools.list_changed
    if not tells or session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return
    attempts = 0
    while attempts < _ATTEMPTS:
        try:
            async with listen(session, tools_list_changed=True) as subscription:
                if attempts:
                    channel.changed.set()
                async for _ in subscription:
                    attempts = 0  # the channel has heard of it
        except (MCPError, SubscriptionLost, TimeoutError):
            pass
        attempts += 1
        await anyio.sleep(_PAUSE_SECONDS)
