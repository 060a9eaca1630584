"""Which confinement this machine has. Found out by trying it once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ._bubblewrap import Bubblewrap
from ._reach import Confinement, Reach
from ._seatbelt import PROGRAM, Seatbelt
from ._set_id import write_filter

_TRY_S = 20.0
_OPTIONS = frozenset(("--disable-userns", "--size"))


@dataclass(frozen=True, slots=True)
class Choice:
    """``confinement``, or ``None`` and ``why`` there is none, with what to do about it."""

    confinement: Confinement | None
    why: str = ""


@cache
def choice() -> Choice:
    """The confinement of this machine. Blocks while it is tried; the answer is kept."""
    if sys.platform == "darwin":
        if not Path(PROGRAM).exists():
            return Choice(None, f"{PROGRAM} is not there")
        return _tried(Seatbelt())
    if sys.platform != "linux":
        return Choice(None, f"there is no sandbox on {sys.platform}")
    path = shutil.which("bwrap")
    if path is None:
        return Choice(None, "bubblewrap is not installed: install it (apt install bubblewrap)")
    try:
        known = subprocess.run([path, "--help"], capture_output=True, check=False, timeout=_TRY_S).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return Choice(None, f"bubblewrap cannot be run: {error}")
    options = known.decode("utf-8", "replace").split()
    return _tried(Bubblewrap(path, _OPTIONS.intersection(options)))


def _tried(confinement: Confinement) -> Choice:
    """``confinement`` when a command runs in it."""
    with TemporaryDirectory() as folder:
        workspace, temporary = Path(folder).resolve() / "workspace", Path(folder).resolve() / "temporary"
        workspace.mkdir()
        temporary.mkdir()
        reach = Reach(workspace, temporary, filter=write_filter(Path(folder) / "filter"))
        words = confinement.command(["/bin/sh", "-c", "exit 0"], reach, 512, 1 << 20)
        try:
            tried = subprocess.run(
                words,
                env=confinement.environment(reach),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=_TRY_S,
                cwd=workspace,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Choice(None, f"{confinement.name} cannot be run: {error}")
    if tried.returncode == 0:
        return Choice(confinement)
    said = tried.stderr.decode("utf-8", "replace").strip()[:300]
    return Choice(None, f"{confinement.name} does not work here ({said})")
