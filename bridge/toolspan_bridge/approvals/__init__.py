"""Approvals: which tool calls a person has to allow, and the answers.

``Approver`` is the interface that the loop asks before each call. ``Unattended`` is the one without a person.
"""

from __future__ import annotations

from .policy import Policy, reason_to_ask
from .request import Approval, ApprovalRequest, Approver
from .unattended import Unattended

__all__ = ["Approval", "ApprovalRequest", "Approver", "Policy", "Unattended", "reason_to_ask"]
