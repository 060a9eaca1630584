"""The folders that state is kept in: can they be written, and are they closed to others?"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from toolspan_server.common.state.folder import way_out, why_not_ours

from ....files.user_state import user_state_directory
from ..finding import Finding, ok, problem, warning
from ..surroundings import Surroundings

ORDER = 90


async def check(around: Surroundings) -> list[Finding]:
    """The user's state folder and the config's, if they are there, and whether that is the one it names."""
    try:
        folders = [user_state_directory()]
    except OSError as error:
        todo = "make it possible to write there, or set XDG_STATE_HOME"
        return [problem(f"the user's state folder cannot be made: {error}", todo)]
    found: list[Finding] = []
    if around.files and around.error is None:
        wanted = around.config.directory / around.config.state_dir
        folders.append(place := around.config.state_directory)
        if wanted.resolve() != place.resolve():
            why = why_not_ours(wanted)
            found = [warning(f"{wanted} is not used: {why}; {place} is", way_out(wanted, why))]
    return [*map(_looked_at, folders), *found]


def _looked_at(folder: Path) -> Finding:
    if not folder.exists():
        nearest = next(each for each in folder.absolute().parents if each.exists())
        if os.access(nearest, os.W_OK):
            return ok(f"{folder} is made when it is needed")
        return problem(f"{folder} cannot be made: {nearest} cannot be written", "set state_dir in the config")
    if not os.access(folder, os.W_OK | os.X_OK):
        return problem(f"{folder} cannot be written", f"chmod u+rwx {folder}, or set state_dir in the config")
    if sys.platform != "win32" and stat.S_IMODE(folder.stat().st_mode) & 0o022:
        return problem(f"{folder} can be written by others", f"chmod go-w {folder}")
    return ok(f"{folder} can be written")
