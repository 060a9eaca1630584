"""Files put on disk whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def replace_file(path: Path, data: bytes, *, like: Path | None = None) -> None:
    """Put ``data`` at ``path`` in one step, with the permissions of ``like`` (``path`` itself by default), or
    the owner's alone if there is no such file yet. Raises ``OSError``, and then nothing is changed."""
    like = like or path
    mode = stat.S_IMODE(like.stat().st_mode) if like.exists() else 0o600
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
