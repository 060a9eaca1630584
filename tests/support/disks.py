"""A disk so small that it is full at once."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.support.waiting import BOUND_S


def tiny_disk(mount_point: Path, size: str = "256k") -> list[str] | None:
    """What runs a program with a disk of ``size`` at ``mount_point``; ``None`` where that is not allowed."""
    if shutil.which("unshare") is None:
        return None
    mount = f'mount -t tmpfs -o size={size} none "{mount_point}" && exec "$@"'
    prefix = ["unshare", "-Urm", "sh", "-c", mount, "sh"]
    works = (
        subprocess.run([*prefix, "true"], capture_output=True, timeout=BOUND_S, check=False).returncode == 0
    )
    return prefix if works else None
