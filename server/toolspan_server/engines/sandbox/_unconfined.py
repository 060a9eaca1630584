"""The environment of commands that nothing confines: what a program needs, and no secret of the server."""

from __future__ import annotations

import os
from pathlib import Path

_NEEDED = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE")
_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def environment(workspace: Path) -> dict[str, str]:
    """The variables of the server's environment that a command gets."""
    found = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    languages = {name: value for name, value in os.environ.items() if name.startswith("LC_")}
    return {"PATH": _DEFAULT_PATH, **found, **languages, "TERM": "dumb", "PWD": str(workspace)}


def hide_server() -> None:
    """Have the kernel keep other processes of the user out of this one's memory and environment.

    Only Linux does, and not for processes of root.
    """
    import sys

    if sys.platform == "linux":
        import ctypes

        set_dumpable = 4
        ctypes.CDLL(None).prctl(set_dumpable, 0, 0, 0, 0)
