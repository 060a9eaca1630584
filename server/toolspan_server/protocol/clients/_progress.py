"""Notifications about a running request, in every era: progress and log messages."""

from __future__ import annotations

import math
from collections.abc import Mapping, MutableMapping
from typing import Any, cast

import anyio
from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp_types import LoggingMessageNotification, LoggingMessageNotificationParams

from ...calls.client import Capability, Level
from ..messages.wire import MODERN
from ..state.connection_state import LEVELS, ConnectionState

_LAST_WORDS_S = 0.05

RequestContext = ServerRequestContext[Any, Any]


class ProgressClient:
    """The part of ``Client`` that is the same whatever the revision: all but the questions."""

    def __init__(self, context: RequestContext) -> None:
        self.memory: MutableMapping[str, Any] = {}
        self.capabilities = capabilities_of(context)
        self._context = context
        self._reported = -math.inf
        self._wanted = _wanted_levels(context)

    def accepts(self, capability: Capability) -> bool:
        """Whether the client declared the capability."""
        ability, _, detail = capability.partition(".")
        declared: Any = self.capabilities.get(ability)
        if not isinstance(declared, Mapping):
            return False
        return not detail or isinstance(cast("Mapping[str, Any]", declared).get(detail), Mapping)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress where the request had a token; what is not more than before is not reported.

        MCP 2025-11-25, basic/utilities/progress: the value MUST increase.
        """
        if progress > self._reported:
            self._reported = progress
            await self._context.session.report_progress(progress, total, message)

    async def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Send a log message on the stream of the request's answer, if the client wants that level."""
        if level in self._wanted:
            params = LoggingMessageNotificationParams(level=level, data=data, logger=logger)
            await self._context.session.send_notification(
                LoggingMessageNotification(params=params), self._context.request_id
            )

    async def release(self) -> None:
        """Close the request's stream where its client can resume it (SEP-1699); the answer is kept for it.

        Notifications sent before go out first: without an event's id a client could not come back.
        """
        if self._context.close_sse_stream is not None:
            await anyio.sleep(_LAST_WORDS_S)
            await self._context.close_sse_stream()


def capabilities_of(context: RequestContext) -> dict[str, Any]:
    """``ClientCapabilities``, as the client declared them for this request."""
    declared = context.session.client_capabilities
    return {} if declared is None else declared.model_dump(by_alias=True, mode="json", exclude_none=True)


def _wanted_levels(context: RequestContext) -> frozenset[str]:
    """MCP 2026-07-28, server/utilities/logging: none without the request's level; before, the session's."""
    if context.protocol_version in MODERN:
        return allowed_log_levels(context.protocol_version, context.meta)
    connection_state: ConnectionState = context.lifespan_context
    return frozenset(LEVELS[LEVELS.index(connection_state.level) :])
