"""Changing a file for a conversation: only what it has read, with a checkpoint; and undoing that."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from ....calls.caller import Caller
from ....errors import ToolFailure
from .._workspace import Workspace
from ..opening.errors import too_large
from ..opening.paths import Place
from .changes import Target
from .checkpoints import Change, digest_of
from .seen import Fingerprint

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Changed:
    """A change that was made: the file's content before, ``None`` where there was none, and after."""

    before: bytes | None
    after: bytes


def change(
    workspace: Workspace,
    caller: Caller,
    tool: str,
    place: Place,
    make: Callable[[bytes | None], bytes],
    *,
    force: bool = False,
    make_folders: bool = False,
) -> Changed:
    """Let the file at ``place`` hold what ``make`` gives for its content, in the name of ``tool``.

    No other change of a workspace's files in that folder runs meanwhile. Raises what ``make`` does, and
    ``ToolFailure``: the file was not read in this conversation (``not_read``) or changed since
    (``changed_since_read``), unless ``force``; it may not be changed; it could not be written. It then holds
    what it held.
    """
    with workspace.changing(place, make_folders=make_folders) as target:
        if not force:
            _check_known(workspace, caller, target)
        after = make(target.before)
        most = workspace.limits.file_bytes
        if len(after) > most:
            raise too_large(place.path, len(after), "limits.file_bytes", most)
        if after != target.before:
            _replace(workspace, caller, tool, target, after)
        workspace.files_read.note(caller, place, Fingerprint.of_content(after))
        return Changed(target.before, after)


def foresee(
    workspace: Workspace,
    caller: Caller,
    place: Place,
    make: Callable[[bytes | None], bytes],
    *,
    force: bool = False,
    make_folders: bool = False,
) -> tuple[Changed, str]:
    """What ``change`` would do now, and why it would refuse to; nothing is changed.

    Raises as ``change`` for what is wrong with the file or the change itself.
    """
    refusal = ""
    with ExitStack() as stack:
        try:
            target = stack.enter_context(workspace.changing(place))
        except ToolFailure as failure:
            if not make_folders or failure.error_code != "file_not_found":
                raise
            return Changed(None, make(None)), ""
        if not force:
            try:
                _check_known(workspace, caller, target)
            except ToolFailure as failure:
                refusal = failure.error
        return Changed(target.before, make(target.before)), refusal


def undo(workspace: Workspace, changes: Sequence[Change]) -> dict[int, str | None]:
    """Undo ``changes``, the latest first; by number, why one was not undone, or ``None``.

    A file that holds something else than the change left is not touched, nor are its earlier changes.
    """
    outcomes: dict[int, str | None] = {}
    kept: set[str] = set()
    for each in sorted(changes, key=lambda each: -each.id):
        if each.path in kept:
            outcomes[each.id] = "a later change of the file was not undone"
            continue
        try:
            outcomes[each.id] = _undone(workspace, each)
        except ToolFailure as failure:
            outcomes[each.id] = failure.error
        if outcomes[each.id] is not None:
            kept.add(each.path)
    workspace.checkpoints.mark_undone(number for number, why in outcomes.items() if why is None)
    return outcomes


def _check_known(workspace: Workspace, caller: Caller, target: Target) -> None:
    if target.before is None:
        return
    known = workspace.files_read.known(caller, target.place)
    if known is None:
        raise ToolFailure(
            f"{target.place.shown} exists and was not read in this conversation",
            error_code="not_read",
            user_action="Read the file first, then call again.",
        )
    if known != Fingerprint.of_content(target.before):
        raise ToolFailure(
            f"{target.place.shown} was changed since it was read in this conversation",
            error_code="changed_since_read",
            user_action="Read the file again, then call again with what it holds now.",
        )


def _replace(workspace: Workspace, caller: Caller, tool: str, target: Target, after: bytes) -> None:
    mode = None if target.found is None else stat.S_IMODE(target.found.st_mode)
    number = workspace.checkpoints.record(caller, tool, target.place, target.before, mode, after)
    try:
        target.replace(after)
    except BaseException:
        try:
            workspace.checkpoints.forget(number)
        except ToolFailure as failure:
            _log.warning("%s: a change that was not made stays listed: %s", target.place.path, failure.detail)
        raise


def _undone(workspace: Workspace, change: Change) -> str | None:
    place = workspace.place(change.path)
    with workspace.changing(place, make_folders=change.before is not None) as target:
        now = digest_of(target.before)
        if now == digest_of(change.before):
            return None
        if now != change.after:
            return "the file was changed since, by something else"
        if change.before is None:
            target.remove()
        else:
            target.replace(change.before)
            if change.mode is not None:
                os.chmod(target.name, change.mode, dir_fd=target.folder)
        return None
