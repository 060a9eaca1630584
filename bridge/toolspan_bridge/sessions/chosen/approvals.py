"""Which calls of tools may run without a person."""

from __future__ import annotations

from dataclasses import dataclass

from ...approvals import Policy

LOCAL_PRINCIPAL = "local"
"""The person at the terminal, who is also whoever uses the page where no token is needed."""


@dataclass(frozen=True, slots=True)
class ApprovalChoice:
    """``--approval`` and ``--approve``: the ``policy``, if one is named, and globs of tools that may run."""

    policy: Policy | None = None
    allowed: tuple[str, ...] = ()
