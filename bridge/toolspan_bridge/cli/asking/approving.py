"""Who decides about calls that need approval: the options, the config, earlier answers, the person."""

from __future__ import annotations

from ...approvals import PolicyApprover, Remembered
from ...approvals.remembered import FILE
from ...errors import StoreError
from ...user_state import user_state_directory
from ..inputs.approvals import ApprovalChoice
from ..terminal.approval import TerminalPerson, has_terminal
from .session import Session

_REMEDY = "allow it with --approve NAME, or with rules in the config"


def approver_of(session: Session, choice: ApprovalChoice, conversation: str) -> PolicyApprover:
    """The approver of a question in ``conversation``, an id. Raises ``StoreError``."""
    config = session.config.approvals
    rules = () if config is None else config.rules
    configured = None if config is None else config.policy
    policy = choice.policy or configured or ("rules" if rules else "destructive")
    base = session.choice.workspace or session.config.directory
    return PolicyApprover(
        policy,
        choice.allowed,
        _REMEDY,
        rules=rules,
        remembered=_remembered(session, conversation),
        person=TerminalPerson(base) if has_terminal() else None,
        base=base,
    )


def _remembered(session: Session, conversation: str) -> Remembered:
    try:
        path = user_state_directory() / FILE
    except OSError as error:
        raise StoreError(f"the folder of what is remembered cannot be made: {error}") from None
    return Remembered(path, session.toolbox.address, conversation)
