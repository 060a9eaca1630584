"""Approvals: which tool calls a person has to allow, and the answers.

``Approver`` is the interface that the loop asks before each call. ``PolicyApprover`` is that of the command
line, ``Unattended`` the one without a person.
"""

from __future__ import annotations

from .approver import PolicyApprover
from .definition import definition_diff, definition_of, digest_of
from .patterns import Pattern
from .person import Person, PersonAnswer
from .policy import Policy, asks_itself, reason_to_ask
from .remembered import Remembered
from .request import Approval, ApprovalRequest, Approver
from .sandbox import lacks_sandbox, sandbox_of
from .unattended import Unattended

__all__ = [
    "Approval",
    "ApprovalRequest",
    "Approver",
    "Pattern",
    "Person",
    "PersonAnswer",
    "Policy",
    "PolicyApprover",
    "Remembered",
    "Unattended",
    "asks_itself",
    "definition_diff",
    "definition_of",
    "digest_of",
    "lacks_sandbox",
    "reason_to_ask",
    "sandbox_of",
]
