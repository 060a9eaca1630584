"""What was read in each conversation, so that nothing is overwritten that its author has not seen."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass

from ...calls.caller import Caller
from ._files import OpenFile
from ._limits import WorkspaceLimits
from ._paths import Place

MOST_CONVERSATIONS = 1_000
MOST_FILES = 10_000


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a file held: a digest of its content, or, of a large file, its identity, size and time."""

    digest: str | None
    mark: tuple[int, ...] = ()

    @classmethod
    def of_content(cls, data: bytes) -> Fingerprint:
        """The fingerprint of a file with the content ``data``."""
        return cls(hashlib.sha256(data).hexdigest())

    @classmethod
    def of_file(cls, file: OpenFile, limits: WorkspaceLimits) -> Fingerprint:
        """The fingerprint of an open file. Raises ``ToolFailure``."""
        if file.size > limits.file_bytes:
            found = file.found
            return cls(None, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))
        return cls.of_content(file.read(0, limits.file_bytes + 1))


class FilesRead:
    """The files that each conversation of each user has read or written, as they were then.

    They are kept in memory: after a restart a file is read once more before it is changed. Of more than
    ``MOST_CONVERSATIONS``, and of more than ``MOST_FILES`` in one, those that were used least recently are
    forgotten.
    """

    def __init__(self) -> None:
        self._conversations: OrderedDict[Caller, OrderedDict[tuple[int, str], Fingerprint]] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, caller: Caller, place: Place, fingerprint: Fingerprint) -> None:
        """Note what ``caller`` knows of the file at ``place``."""
        with self._lock:
            files = self._conversations.setdefault(caller, OrderedDict())
            self._conversations.move_to_end(caller)
            files[place.root, place.path] = fingerprint
            files.move_to_end((place.root, place.path))
            while len(files) > MOST_FILES:
                files.popitem(last=False)
            while len(self._conversations) > MOST_CONVERSATIONS:
                self._conversations.popitem(last=False)

    def known(self, caller: Caller, place: Place) -> Fingerprint | None:
        """What ``caller`` knows of the file at ``place``; ``None``: it was not read in this conversation."""
        with self._lock:
            files = self._conversations.get(caller)
            return None if files is None else files.get((place.root, place.path))
