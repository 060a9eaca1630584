"""Approvals: which tool calls a person has to allow, and the answers.

``Approver`` is the interface that the loop asks before each call. ``PolicyApprover`` is that of the command
line, ``Unattended`` the one without a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .approver import FilesOf, PolicyApprover
    from .definition import Departure, definition_diff, definition_of, digest_of
    from .patterns import CallFiles, Pattern
    from .person import EditedCall, Person, PersonAnswer, question_of
    from .policy import Policy, asks_itself, reason_to_ask
    from .remembered import Remembered
    from .request import Approval, ApprovalRequest, Approver, find_reason
    from .sandbox import lacks_sandbox
    from .unattended import Unattended

__all__ = [
    "Approval",
    "ApprovalRequest",
    "Approver",
    "CallFiles",
    "Departure",
    "EditedCall",
    "FilesOf",
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
    "find_reason",
    "lacks_sandbox",
    "question_of",
    "reason_to_ask",
]

_MODULES = {
    "find_reason": ".request",
    "Approval": ".request",
    "ApprovalRequest": ".request",
    "Approver": ".request",
    "CallFiles": ".patterns",
    "Departure": ".definition",
    "EditedCall": ".person",
    "FilesOf": ".approver",
    "Pattern": ".patterns",
    "Person": ".person",
    "PersonAnswer": ".person",
    "Policy": ".policy",
    "PolicyApprover": ".approver",
    "Remembered": ".remembered",
    "Unattended": ".unattended",
    "asks_itself": ".policy",
    "definition_diff": ".definition",
    "definition_of": ".definition",
    "digest_of": ".definition",
    "lacks_sandbox": ".sandbox",
    "question_of": ".person",
    "reason_to_ask": ".policy",
}

if not TYPE_CHECKING:
    from toolspan_server.common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
