"""Whether files were changed, by looking at them: it works on network file systems, and through links."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import anyio

_SETTLE_S = 0.1
_MOST_LOOKS = 50

Mark = tuple[int, ...] | None


class FileMarks:
    """What ``files`` were like when they were last looked at."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = tuple(files)
        self._seen = self._marks()

    def watch(self, files: Iterable[Path]) -> None:
        """Look at ``files`` from now on; what was seen of those that were looked at before still counts."""
        seen = dict(zip(self._files, self._seen, strict=True))
        self._files = tuple(files)
        self._seen = tuple(seen[path] if path in seen else _mark(path) for path in self._files)

    def changed(self) -> bool:
        """Whether any file is another than when it was looked at last."""
        before, self._seen = self._seen, self._marks()
        return before != self._seen

    async def settled(self) -> None:
        """Return once nobody writes any more, as far as that shows."""
        for _ in range(_MOST_LOOKS):
            await anyio.sleep(_SETTLE_S)
            if not self.changed():
                return

    def _marks(self) -> tuple[Mark, ...]:
        return tuple(_mark(path) for path in self._files)


def _mark(path: Path) -> Mark:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
