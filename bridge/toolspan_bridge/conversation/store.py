"""The folder of conversations that were saved as they happened: one log a conversation."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import (
    is_private_file,
    list_folders,
    list_private,
    read_private,
    remove_tree,
    stat_private,
    write_private,
)

from ..errors import BusyError, StoreError, UsageError
from .conversation import MAX_BYTES, Conversation
from .files import bytes_beside, files_beside
from .journal import LogJournal
from .log import Head, Log, read_head, read_log
from .log_file import LogFile, hold

__all__ = ["FOLDER", "LATEST", "SUFFIX", "ConversationStore", "Entry", "subagents_beside"]

FOLDER = "conversations"
"""Where the conversations of a config are in its state folder."""
LATEST = "latest"
"""What names the conversation that was gone on with last."""
SUFFIX = ".jsonl"

_PLAIN_ID = re.compile(r"[0-9a-f]{8,64}")
_LEAST_PREFIX = 4
_SHOWN = 12
_BLOCK = 4_096


@dataclass(frozen=True, slots=True)
class Entry:
    """A conversation in the folder: its ``head``, its file, when that was last written (seconds since 1970),
    and its size in bytes, with that of the files beside it."""

    head: Head
    path: Path
    changed: float
    size: int

    @property
    def changed_at(self) -> str:
        """``changed`` as UTC in ISO 8601."""
        return datetime.fromtimestamp(self.changed, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def subagents_beside(path: Path) -> Path:
    """The folder for the conversations of the sub-agents of the conversation that is kept in ``path``."""
    return path.with_name(f"{path.name}.subagents")


class ConversationStore:
    """The conversations in ``folder``, none of more than ``max_bytes``. The folder is made, for its owner
    alone, when the first one is saved.

    ``journal`` gives what a ``Conversation`` is saved by while it goes on; ``resumed`` one that goes on.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self.folder = folder
        self._max_bytes = max_bytes

    def within(self, name: str) -> ConversationStore:
        """The conversations in the folder ``name`` in this one, under the same limit."""
        return ConversationStore(self.folder / name, self._max_bytes)

    def entries(self) -> list[Entry]:
        """Every conversation, the one that was written last first; files that are none are passed over.

        Raises ``StoreError`` when the folder cannot be read.
        """
        return sorted(self._entries(), key=lambda each: (-each.changed, each.head.id))

    def used_bytes(self) -> int:
        """What everything in the folder takes on the disk, in steps of 4 KiB a file; not what is in a folder
        made by ``within``. Raises ``StoreError`` when it cannot be read."""
        try:
            return _taken(self.folder, deep=False) + sum(
                _taken(each, deep=True) for each in list_folders(self.folder) if SUFFIX in each.name
            )
        except OSError as fault:
            raise StoreError(f"the folder {self.folder} cannot be read: {fault.strerror}") from None

    def find(self, name: str) -> Entry:
        """The conversation whose id begins with ``name`` (at least four characters), or the ``latest``.

        Raises ``UsageError`` when there is none, or more than one.
        """
        entries = self.entries()
        if name == LATEST:
            if not entries:
                raise UsageError(f"no conversation is saved in {self.folder} yet")
            return entries[0]
        found = [each for each in entries if each.head.id == name] or [
            each for each in entries if len(name) >= _LEAST_PREFIX and each.head.id.startswith(name)
        ]
        if len(found) == 1:
            return found[0]
        if found:
            several = ", ".join(each.head.id[:_SHOWN] for each in found[:5])
            raise UsageError(f"several conversations begin with {name!r}: {several} (write more of the id)")
        raise UsageError(
            f"no conversation {name!r} is in {self.folder} (list them by `toolspan conversations list`; of "
            f"an id, its first {_LEAST_PREFIX} characters or more are enough)"
        )

    def read(self, entry: Entry) -> Log:
        """The whole of ``entry``. Raises ``UsageError`` that says what is wrong with it."""
        try:
            return read_log(entry.path, self._max_bytes)
        except OSError as fault:
            raise UsageError(f"the conversation {entry.path} cannot be read: {fault.strerror}") from None
        except UsageError as fault:
            raise UsageError(f"the conversation {entry.path} cannot be read: {fault}") from None

    def resumed(self, entry: Entry, report: Callable[[str], None]) -> Conversation:
        """The conversation ``entry``, to be gone on with: it is held until its journal is closed.

        Whatever of its log is damaged is put beside it, and said. Raises ``BusyError`` when another process
        holds it, ``UsageError`` and ``StoreError``.
        """
        descriptor = self._held(entry)
        try:
            log = self.read(entry)
            self._set_aside(entry, log, report)
            file = LogFile.opened(entry.path, descriptor, log.size, self._max_bytes)
        except BaseException as fault:
            os.close(descriptor)
            if isinstance(fault, OSError):
                raise self._unusable(entry.path, fault) from None
            raise
        conversation = log.conversation
        conversation.journal = LogJournal(None, report, resumed=(log, file))
        return conversation

    def journal(
        self,
        conversation: Conversation,
        report: Callable[[str], None],
        *,
        origin: Head | None = None,
    ) -> LogJournal:
        """The journal of one that is not in the folder yet, perhaps a copy of ``origin``.

        Its file is made with its first message.
        """
        path = self._path(conversation.id)

        def made() -> LogFile:
            private_folder(self.folder)
            return LogFile.made(path, self._max_bytes)

        return LogJournal(made, report, origin=origin)

    def entry(self, conversation_id: str) -> Entry | None:
        """The conversation of that very id, if it is in the folder."""
        path = self._path(conversation_id)
        return self._entry(path) if is_private_file(path) else None

    def delete(self, entry: Entry) -> None:
        """Remove ``entry``. Raises ``BusyError`` when a process goes on with it, and ``StoreError``."""
        file = LogFile(entry.path, self._held(entry), 0, 0)
        try:
            file.close(remove=True)
            remove_tree(subagents_beside(entry.path))
            remove_tree(files_beside(entry.path))
        except OSError as fault:
            raise self._unusable(entry.path, fault) from None

    def subagents(self, conversation_id: str) -> Path:
        """The folder for the conversations of its sub-agents, which are removed with it."""
        return subagents_beside(self._path(conversation_id))

    def files(self, conversation_id: str) -> Path:
        """The folder for the files that came within it, which are removed with it."""
        return files_beside(self._path(conversation_id))

    def subagent_files(self, entry: Entry) -> list[Path]:
        """The conversations of its sub-agents, a file each, in the order in which these were started."""
        with suppress(OSError):  # not a folder, or a link
            found = list_private(subagents_beside(entry.path))
            dated = [(each.st_mtime, path) for path, each in found if path.suffix == ".json"]
            return [path for _, path in sorted(dated)]
        return []

    def read_subagent(self, path: Path) -> Conversation:
        """The conversation in ``path``, one of ``subagent_files``. Raises ``UsageError``."""
        try:
            data = read_private(path, MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise UsageError(f"it is larger than {MAX_BYTES:,} bytes")
            return Conversation.from_json(data)
        except OSError as fault:
            raise UsageError(f"the conversation {path} cannot be read: {fault.strerror}") from None
        except UsageError as fault:
            raise UsageError(f"the conversation {path} cannot be read: {fault}") from None

    def _held(self, entry: Entry) -> int:
        try:
            return hold(entry.path)
        except BusyError:
            raise self._busy(entry) from None
        except OSError as fault:
            raise self._unusable(entry.path, fault) from None

    def _entries(self) -> Iterator[Entry]:
        try:
            paths = [path for path, _ in list_private(self.folder) if path.suffix == SUFFIX]
        except OSError as fault:
            raise StoreError(f"the folder {self.folder} cannot be read: {fault.strerror}") from None
        for path in paths:
            if (entry := self._entry(path)) is not None:
                yield entry

    def _entry(self, path: Path) -> Entry | None:
        try:
            status = stat_private(path)
            if status is None:
                return None
            return Entry(read_head(path), path, status.st_mtime, status.st_size + bytes_beside(path))
        except (OSError, UsageError):  # removed meanwhile, not a log, or the first line of one just begun
            return None

    def _path(self, conversation_id: str) -> Path:
        """An id that came with an imported file may be any text."""
        name = conversation_id
        if not _PLAIN_ID.fullmatch(name):
            name = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self.folder / f"{name}{SUFFIX}"

    def _set_aside(self, entry: Entry, log: Log, report: Callable[[str], None]) -> None:
        if not log.damage:
            return
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        aside = entry.path.with_name(f"{entry.path.name}.damaged-{stamp}")
        write_private(aside, read_private(entry.path))
        report(
            f"{entry.path} is damaged ({log.damage}): the conversation goes on from what is before; the file "
            f"as it was is {aside.name}, beside it"
        )

    def _busy(self, entry: Entry) -> BusyError:
        opened = [note for note in self.read(entry).notes if note.kind == "opened"]
        who = f"process {opened[-1].data.get('pid')} (since {opened[-1].at})" if opened else "another process"
        name = entry.head.id[:_SHOWN]
        return BusyError(
            f"the conversation {name} is in use by {who}: end that, or go on with a copy (--fork, or "
            f"`toolspan conversations fork {name}`)"
        )

    def _unusable(self, path: Path, fault: OSError) -> StoreError:
        return StoreError(f"the conversation {path} cannot be gone on with: {fault.strerror}")


def _taken(folder: Path, *, deep: bool) -> int:
    """The bytes of the files in ``folder``, and, where ``deep``, of those in folders inside it."""
    found = sum(-(-status.st_size // _BLOCK) * _BLOCK for _, status in list_private(folder))
    return found + (sum(_taken(each, deep=True) for each in list_folders(folder)) if deep else 0)
