"""Subscribes to changes of tools and resources: where servers notify only subscribers (MCP 2026-07-28,
subscriptions), and by ``resources/subscribe`` before."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

import anyio
from mcp.client.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    SubscriptionLost,
    listen,
)
from mcp.shared.exceptions import MCPError
from mcp_types import EmptyResult, SubscribeRequest, SubscribeRequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ._listener import ToldOf

if TYPE_CHECKING:
    from mcp.client.session import ClientSession

    from ._channel import Channel

_PAUSE_SECONDS = 5.0
_ATTEMPTS = 5


async def hear_of_changes(session: ClientSession, channel: Channel) -> None:
    """Set ``channel.changed`` when the server's tools change, and tell its listener when other lists do,
    until cancelled or the server refuses.

    A subscription that ends is opened again, a few times in a row at most; the tools are then listed anew.
    Before 2026-07-28 servers notify without a subscription: nothing to do here.
    """
    lists = _told_lists(session)
    if not lists or session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return
    attempts = 0
    while attempts < _ATTEMPTS:
        try:
            async with listen(
                session,
                tools_list_changed="tools" in lists,
                prompts_list_changed="prompts" in lists,
                resources_list_changed="resources" in lists,
            ) as subscription:
                if attempts:
                    channel.changed.set()
                    channel.lists_changed(lists)
                async for event in subscription:
                    attempts = 0
                    if isinstance(event, PromptsListChanged):
                        channel.lists_changed({"prompts"})
                    elif isinstance(event, ResourcesListChanged):
                        channel.lists_changed({"resources"})
                    else:
                        channel.changed.set()
        except (MCPError, SubscriptionLost, TimeoutError):
            pass
        attempts += 1
        await anyio.sleep(_PAUSE_SECONDS)


def _told_lists(session: ClientSession) -> set[str]:
    """The lists of whose changes the server tells."""
    capabilities = session.server_capabilities
    parts = {name: getattr(capabilities, name, None) for name in ("tools", "prompts", "resources")}
    return {name for name, part in parts.items() if part is not None and part.list_changed}


async def hear_of_resources(
    session: ClientSession, channel: Channel, uris: Sequence[str], before: Set[str], told_of: ToldOf
) -> None:
    """Have the server tell of changes of ``uris``, until cancelled; in this session it tells of those of
    ``before`` already. The listener of ``channel`` hears of each change.

    A subscription that ends is opened again, a few times in a row at most; then it tells of none.
    """
    if session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        await _subscribe(session, uris, before, told_of)
        return
    attempts = 0
    while attempts < _ATTEMPTS:
        try:
            async with listen(session, resource_subscriptions=uris) as subscription:
                told_of(subscription.honored.resource_subscriptions or ())
                async for event in subscription:
                    attempts = 0
                    if isinstance(event, ResourceUpdated):
                        channel.resource_changed(event.uri)
        except (MCPError, SubscriptionLost, TimeoutError):
            told_of(())
        attempts += 1
        await anyio.sleep(_PAUSE_SECONDS)


async def _subscribe(session: ClientSession, uris: Sequence[str], before: Set[str], told_of: ToldOf) -> None:
    honored = set(before)
    for uri in uris:
        if uri in before:
            continue
        request = SubscribeRequest(params=SubscribeRequestParams(uri=uri))
        try:
            await session.send_request(request, EmptyResult)
        except (MCPError, ValueError):
            continue  # it does not tell of this one
        honored.add(uri)
    told_of(honored)
    await anyio.sleep_forever()
