"""The approver without a person to ask: what needs approval is denied, unless it was allowed beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from toolspan_server.engines.upstreams import ListedTool

from .policy import Policy, reason_to_ask
from .request import Approval, ApprovalRequest


class Unattended:
    """Denies each call that needs approval by ``policy``, save those of tools in ``allowed``.

    ``allowed`` are patterns of tool names (``Write``, ``files/*``, with the server before the slash).
    ``remedy`` tells how a person could allow the call.
    """

    def __init__(
        self, policy: Policy = "destructive", allowed: Sequence[str] = (), remedy: str = "pass an approver"
    ) -> None:
        self._policy: Policy = policy
        self._allowed = tuple(allowed)
        self._remedy = remedy

    def reason_to_ask(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
        """Why the call needs approval by the policy; empty when it needs none."""
        return reason_to_ask(tool, self._policy)

    async def decide(self, request: ApprovalRequest) -> Approval:
        """Whether the tool is among the allowed ones."""
        names = (request.tool.name, f"{request.server}/{request.tool.name}")
        if any(fnmatchcase(name, pattern) for name in names for pattern in self._allowed):
            return Approval(allowed=True, decider="flag")
        return Approval(
            allowed=False,
            decider="policy",
            reason=f"{request.reason}, and there is nobody to ask here ({self._remedy})",
        )
