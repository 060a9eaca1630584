"""Who decides about calls that need approval: the options, the config, earlier answers, the person."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from toolspan_server.engines.upstreams import ListedTool

from ..approvals import CallFiles, FilesOf, Policy, PolicyApprover, Remembered
from ..approvals.remembered import FILE, Origins
from ..approvals.workspace import works_as, workspace_name
from ..errors import StoreError
from ..files.user_state import user_state_directory
from ..trust import Shadows, shadow_notes
from .chosen.approvals import ApprovalChoice
from .session import Session

_REMEDY = "allow it with --approve NAME, or with rules in the config"


def approver_of(
    session: Session, choice: ApprovalChoice, conversation: str, principal: str, *, typed: bool = False
) -> PolicyApprover:
    """The approver of a question of ``principal`` in ``conversation``, an id; or of calls that the person
    ``typed``."""
    config = session.config.approvals
    rules = () if config is None else config.rules
    files_of = files_of_calls(session)
    return PolicyApprover(
        policy_of(session, choice),
        choice.allowed,
        _REMEDY,
        rules=rules,
        remembered=remembered_of(session, conversation, principal),
        person=session.host.approvals_by(files_of, _warnings_of(session)),
        files_of=files_of,
        departure_of=session.baseline.departure,
        report=session.host.note,
        outward="ask" if config is None else config.outward,
        typed=typed,
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


def files_of_calls(session: Session) -> FilesOf:
    """Where the paths of a tool begin: in its workspace, if it is one of our own server's, which says which
    one; else in the workspace of the options, else beside the config."""
    workspaces, directory = session.config.services.entries("workspaces"), session.config.directory
    other = session.choice.workspace or directory
    own = (session.config.name, f"{session.config.name}-own")

    def files_of(server: str, tool: ListedTool) -> CallFiles:
        name = workspace_name(tool) if session.toolbox.is_own(server) else ""
        entry = workspaces.get(name) if server in own else None
        if entry is None:
            return CallFiles(other, works_as=works_as(tool) if name else "")
        folder = directory / str(entry.path)
        roots = tuple(directory / str(root.path) for root in entry.roots)
        return CallFiles(folder, roots, works_as(tool))

    return files_of


def _warnings_of(session: Session) -> Callable[[str, str], list[str]]:
    def warnings(server: str, tool: str) -> list[str]:
        return shadow_notes(Shadows(session.toolbox.tools).of(server, tool), tool)

    return warnings


def remembered_of(session: Session, conversation: str, principal: str) -> Remembered:
    """What ``principal`` answered earlier, for ``conversation`` and for good."""
    files = json.dumps([str(path.resolve()) for path in session.config.files])
    origins = Origins(files, session.toolbox.address, _Configured(session))
    return Remembered(_file, origins, principal, conversation)


class _Configured:
    """What the config of ``session`` says of a server's tool, and of the server, as a text that changes with
    it. It may hold secrets."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self, server: str, tool: str) -> str:
        toolbox, config = self._session.toolbox, self._session.config
        if not (toolbox.is_own(server) and config.files):
            return toolbox.configured(server)
        entry = next((each for each in config.tools.registry if each.name == tool), None)
        made = [each.model_dump() for each in config.tools.sources] if entry is None else entry.model_dump()
        return json.dumps([made, config.services.model_dump()], sort_keys=True, default=repr)


def _file() -> Path:
    try:
        return user_state_directory() / FILE
    except OSError as error:
        raise StoreError(f"the folder of what is remembered cannot be made: {error}") from None
