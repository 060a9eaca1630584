"""Who decides about calls that need approval: the options, the config, earlier answers, the person."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from toolspan_server.engines.upstreams import ListedTool

from ..approvals import BaseOf, Policy, PolicyApprover, Remembered
from ..approvals.remembered import FILE
from ..approvals.workspace import workspace_name
from ..errors import StoreError
from ..files.user_state import user_state_directory
from ..trust import Shadows, shadow_notes
from .chosen.approvals import ApprovalChoice
from .session import Session

_REMEDY = "allow it with --approve NAME, or with rules in the config"


def approver_of(session: Session, choice: ApprovalChoice, conversation: str) -> PolicyApprover:
    """The approver of a question in ``conversation``, an id."""
    config = session.config.approvals
    rules = () if config is None else config.rules
    base_of = bases(session)
    return PolicyApprover(
        policy_of(session, choice),
        choice.allowed,
        _REMEDY,
        rules=rules,
        remembered=remembered_of(session, conversation),
        person=session.host.approvals_by(base_of, _warnings_of(session)),
        base_of=base_of,
        departure_of=session.baseline.departure,
        report=session.host.note,
        outward="ask" if config is None else config.outward,
    )


def policy_of(session: Session, choice: ApprovalChoice) -> Policy:
    """The policy of the options, else of the config."""
    config = session.config.approvals
    configured = None if config is None else config.policy
    return choice.policy or configured or ("rules" if config is not None and config.rules else "destructive")


def files_base(session: Session) -> Path:
    """Where relative paths of files begin: in the workspace, if there is just one, else beside the config."""
    if session.choice.workspace is not None:
        return session.choice.workspace
    paths = [str(each.path) for each in session.config.services.entries("workspaces").values()]
    base = session.config.directory
    return base / paths[0] if len(paths) == 1 else base


def bases(session: Session) -> BaseOf:
    """Where relative paths of a tool begin: in its workspace, if our server says which one of the config that
    is, else in that of the options, else beside the config."""
    workspaces, directory = session.config.services.entries("workspaces"), session.config.directory
    other = session.choice.workspace or directory

    def base_of(server: str, tool: ListedTool) -> Path:
        ours = server == session.config.name and session.toolbox.is_own(server)
        entry = workspaces.get(workspace_name(tool)) if ours else None
        return other if entry is None else directory / str(entry.path)

    return base_of


def _warnings_of(session: Session) -> Callable[[str, str], list[str]]:
    def warnings(server: str, tool: str) -> list[str]:
        return shadow_notes(Shadows(session.toolbox.tools).of(server, tool), tool)

    return warnings


def remembered_of(session: Session, conversation: str) -> Remembered:
    """What was answered earlier, for ``conversation`` and for good."""
    return Remembered(_file, session.toolbox.address, conversation)


def _file() -> Path:
    try:
        return user_state_directory() / FILE
    except OSError as error:
        raise StoreError(f"the folder of what is remembered cannot be made: {error}") from None
