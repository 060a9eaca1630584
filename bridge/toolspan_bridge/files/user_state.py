"""The folder of what is remembered for one user, whatever the folder that a command runs in."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from toolspan_server.common.private_files import private_folder


def user_state_directory() -> Path:
    """``toolspan`` in the user's state folder, made for its owner alone; its place is a custom of the system.

    That is ``$XDG_STATE_HOME``, else ``~/Library/Application Support`` (macOS), ``%LOCALAPPDATA%`` (Windows)
    or ``~/.local/state``. Raises ``OSError``.
    """
    chosen = os.environ.get("XDG_STATE_HOME", "")
    if Path(chosen).is_absolute():
        base = Path(chosen)
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path.home() / ".local" / "state"
    return private_folder(base / "toolspan")
