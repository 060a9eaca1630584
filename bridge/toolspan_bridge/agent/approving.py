"""Approvals for several agents at the same time: one question after the other, each with who asks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio

from toolspan_server.engines.upstreams import ListedTool

from ..approvals import Approval, ApprovalRequest, Approver

__all__ = ["OneAtATime", "SubagentApprover"]


class OneAtATime:
    """``approver``, asked about one call at a time, whoever makes them."""

    def __init__(self, approver: Approver) -> None:
        self._approver = approver
        self._lock = anyio.Lock()

    def reason_to_ask(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
        """As ``approver`` says."""
        return self._approver.reason_to_ask(server, tool, arguments)

    async def decide(self, request: ApprovalRequest) -> Approval:
        """The answer of ``approver``."""
        async with self._lock:
            return await self._approver.decide(request)


class SubagentApprover:
    """``approver``, which is told that the sub-agent ``agent`` makes the call."""

    def __init__(self, approver: Approver, agent: str) -> None:
        self._approver = approver
        self._agent = agent

    def reason_to_ask(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
        """As ``approver`` says, with the name of the sub-agent."""
        reason = self._approver.reason_to_ask(server, tool, arguments)
        return reason and f"{reason}; the sub-agent {self._agent!r} makes the call"

    async def decide(self, request: ApprovalRequest) -> Approval:
        """The answer of ``approver``, which is told who makes the call also where only its facts need one."""
        if self._agent not in request.reason:
            told = f"{request.reason}; the sub-agent {self._agent!r} makes the call"
            request = replace(request, reason=told)
        return await self._approver.decide(request)
