"""The approver without a person to ask: what needs approval is denied, unless it was allowed beforehand."""

from __future__ import annotations

from collections.abc import Sequence

from .approver import NOBODY, PolicyApprover
from .policy import Policy


class Unattended(PolicyApprover):
    """Denies each call that needs approval by ``policy``, save those of tools in ``allowed``.

    ``allowed`` are patterns of tool names (``Write``, ``files/*``, with the server before the slash).
    ``remedy`` tells how a person could allow the call.
    """

    def __init__(
        self, policy: Policy = "destructive", allowed: Sequence[str] = (), remedy: str = NOBODY
    ) -> None:
        super().__init__(policy, allowed, remedy)
