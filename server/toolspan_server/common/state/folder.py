"""Whose a state folder is: one that came with a repository is not ours.

A state folder of ours carries a mark, a file with a keyed hash of the folder's number on its disk (inode).
The key is a secret of 32 random bytes in the user's own state folder, so a mark holds on this machine, for
this user and for this very folder: it outlives a rename, and a clone, a copy or an unpacked archive has none
that holds. It says nothing of what a later pull puts into the folder, so nothing in it may be tracked either
(see ``tracking``).

A folder named ``.toolspan``, and one within the folder of its config, is used when its mark holds, and made
with one. Any other is the word of whoever named it. Where it is not ours, nothing of the folder is read or
written: state goes to a folder of the project in the user's state folder, and that is said.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...errors import ServeError
from .private_files import (
    close_folder,
    is_temporary,
    list_folders,
    make_folder,
    private_file,
    read_private,
    remove_leftovers,
    remove_tree,
    rename_private,
    stat_private,
    temporary_name,
    write_private,
)
from .tracking import STATE_FOLDER as STATE_FOLDER
from .tracking import require_untracked, tracked_by_git, why_tracked

STORAGE_FOLDER = "storage"
"""The folder of what tools store, in the state folder."""

MARK_FILE = ".mark"
IGNORE_FILE = ".gitignore"
_IGNORE = b"# What Toolspan keeps here is for you alone.\n*\n"
_SECRET_FILE = "state-mark.secret"
_SECRET_BYTES = 32
_MARK_BYTES = 200
_PROJECTS = "projects"
_UNMARKED = "it does not carry the mark of a state folder made on this machine by you"

_log = logging.getLogger(__name__)
_expected: set[Path] = set()
"""Folders with other names than ``.toolspan`` that are made with a mark."""
_told: set[Path] = set()
_swept: set[Path] = set()


def user_state_directory() -> Path:
    """``toolspan`` in the user's state folder, made for its owner alone; its place is a custom of the system.

    That is ``$XDG_STATE_HOME``, else ``~/Library/Application Support`` (macOS), ``%LOCALAPPDATA%`` (Windows)
    or ``~/.local/state``. Raises ``OSError``.
    """
    place = locate_user_state()
    make_folder(place)
    return place


def state_folder(wanted: Path, project: Path, *, absolute: bool) -> Path:
    """Where a config in the folder ``project`` that names ``wanted`` keeps its state; nothing is made yet.

    ``absolute``: the config spells the whole path, which no repository knows. Where ``wanted`` is not ours
    the place is in the user's state folder, and a warning says so, once a process. Raises ``ServeError`` for
    a user without one.
    """
    place = _place(wanted)
    root = project.resolve()
    if place.name != STATE_FOLDER and (absolute or not place.is_relative_to(root) or place == root):
        place = place.resolve()
        if stat_private(place) is None:
            _expected.add(place)
        return place
    why = why_not_ours(place)
    if not why:
        _expected.add(place)
        if place.name != STATE_FOLDER:
            require_untracked(place)
        return place
    try:
        instead = locate_user_state() / _PROJECTS / _project_name(place)
    except OSError as error:
        raise ServeError(f"{place} is not used: {why}; and {error.strerror}, or state_dir") from None
    if place not in _told:
        _told.add(place)
        is_there = stat_private(place) is not None
        _log.log(
            logging.WARNING if is_there else logging.INFO,
            "%s is not used: %s. State is kept in %s instead (%s)",
            place,
            why,
            instead,
            way_out(place, why),
        )
    return instead


def private_folder(path: Path) -> Path:
    """``path``, made with its missing parents for their owner alone.

    The default state folder, and others that ``state_folder`` gave, are made with a mark. A default state
    folder that is there must carry it, and is corrected with the folders in it that lead to ``path``. Any
    other folder is a person's own choice, perhaps shared with other work, and stays as it is: what we put in
    it is private by itself. Raises ``OSError``, also for a state folder that is not ours.
    """
    absolute = path.absolute()
    chain = (absolute, *absolute.parents)
    for root in chain:
        if root.name == STATE_FOLDER or root in _expected:
            _own(root)
            _sweep(root)
            break
    make_folder(absolute)
    names = [folder.name for folder in chain]
    for folder in chain[: names.index(STATE_FOLDER) + 1] if STATE_FOLDER in names else ():
        close_folder(folder)
    return path


def why_not_ours(folder: Path) -> str:
    """Why the state folder ``folder`` is not to be used; empty when it is ours, not there, or empty, and no
    version control may bring files into it."""
    return why_tracked(_place(folder)) or _why_not_ours(folder)


def _why_not_ours(folder: Path) -> str:
    found = stat_private(folder)
    if found is None:
        return ""
    if stat.S_ISLNK(found.st_mode) or not stat.S_ISDIR(found.st_mode):
        return "it is a link" if stat.S_ISLNK(found.st_mode) else "it is not a folder"
    if sys.platform != "win32" and found.st_uid != os.geteuid():
        return "it belongs to another user"
    if _is_marked(folder, found) or _is_empty(folder):
        return ""
    return _UNMARKED


def way_out(folder: Path, why: str) -> str:
    """How a person has ``folder`` used, or another one in its place, which is not ours because of ``why``."""
    if why == _UNMARKED:
        return f"`toolspan trust state {folder}` takes it over"
    if tracked_by_git(_place(folder)):
        keep = f"`git rm -r --cached {folder}` keeps the files"
        return f"look at what came: {keep}, `git rm -r {folder}` removes them"
    if why_tracked(_place(folder)):
        return "what you have there may be moved to it"
    return "move it away, and one is made there"


@dataclass(frozen=True, slots=True)
class Contents:
    """How many ``files`` a folder holds, and ``others``: the paths of links, pipes and hard links in it."""

    files: int
    others: tuple[str, ...]


def contents(folder: Path) -> Contents:
    """Everything in ``folder``, without following a link. Raises ``OSError``."""
    files, others = 0, list[str]()
    for above, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(above, name)
            found = path.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                files += name not in (MARK_FILE, IGNORE_FILE)
            elif not stat.S_ISDIR(found.st_mode):
                others.append(str(path))
    return Contents(files, tuple(others))


def take_over(folder: Path) -> None:
    """Mark ``folder``, which is there, as ours: a person looked at it. Raises ``OSError``."""
    close_folder(folder)
    _mark(folder)


def locate_user_state() -> Path:
    """As ``user_state_directory``, but nothing is made."""
    chosen = os.environ.get("XDG_STATE_HOME", "")
    if Path(chosen).is_absolute():
        base = Path(chosen)
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local")
    else:
        base = _home() / ".local" / "state"
    return (base / "toolspan").resolve()


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        raise OSError(errno.ENOENT, "the user has no home folder: set XDG_STATE_HOME") from None


def _place(wanted: Path) -> Path:
    """``wanted`` with the links of the folders above it followed; it may be one itself."""
    whole = wanted.absolute()
    return whole.resolve() if whole.name == ".." else whole.parent.resolve() / whole.name


def _project_name(place: Path) -> str:
    from ..file_names import file_name, hashed

    return f"{file_name(place.parent.name or 'root')[:40]}-{hashed(str(place))[:16]}"


def _sweep(root: Path) -> None:
    """Remove what ended processes left half-written in ``root`` and beside it, once a process."""
    if root in _swept:
        return
    _swept.add(root)
    within = list_folders(root)
    folders = [root.parent, root, *within, *(each for one in within for each in list_folders(one))]
    for folder in folders:
        with suppress(OSError):  # one that cannot be read
            if removed := remove_leftovers(folder):
                _log.info("%s: %d files that an ended process had not finished were removed", folder, removed)


def _own(root: Path) -> None:
    """See to it that ``root`` is there and ours."""
    found = stat_private(root)
    if found is None:
        _make_marked(root)
        return
    if root.name != STATE_FOLDER and (root not in _expected or not _is_empty(root)):
        return  # another process made it, or a person named it
    if why := tracked_by_git(root) or _why_not_ours(root):
        raise OSError(errno.EPERM, f"{why} ({way_out(root, why)})", str(root))
    if not _is_marked(root, found):
        close_folder(root)
        _mark(root)


def _make_marked(root: Path) -> None:
    """Make ``root`` with its mark in one step: no other process finds it without."""
    make_folder(root.parent)
    fresh = root.with_name(temporary_name())
    make_folder(fresh)
    try:
        _mark(fresh)
        rename_private(fresh, root)
    except OSError:
        with suppress(OSError):
            remove_tree(fresh)
        if stat_private(root) is None:
            raise
        # another process was quicker
    except BaseException:
        with suppress(OSError):
            remove_tree(fresh)
        raise


def _mark(folder: Path) -> None:
    found = stat_private(folder)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
    write_private(folder / MARK_FILE, _mark_of(_secret(), found))
    if stat_private(folder / IGNORE_FILE) is None:
        write_private(folder / IGNORE_FILE, _IGNORE)


def _is_marked(folder: Path, found: os.stat_result) -> bool:
    try:
        mark = read_private(folder / MARK_FILE, _MARK_BYTES)
        secret = read_private(locate_user_state() / _SECRET_FILE, _SECRET_BYTES)
    except OSError:
        return False
    from hmac import compare_digest

    return len(secret) == _SECRET_BYTES and compare_digest(mark, _mark_of(secret, found))


def _mark_of(secret: bytes, found: os.stat_result) -> bytes:
    from hashlib import blake2b

    named = f"{found.st_uid} {found.st_ino}".encode()
    digest = blake2b(named, key=secret, digest_size=32, person=b"toolspan state").hexdigest()
    return f"The state folder of one user of Toolspan on one machine.\n{digest}\n".encode()


def _secret() -> bytes:
    """The user's secret, made when it is first needed: all processes have the same."""
    path = user_state_directory() / _SECRET_FILE
    with suppress(FileNotFoundError):
        found = read_private(path, _SECRET_BYTES)
        if len(found) == _SECRET_BYTES:
            return found
    from filelock import FileLock

    with FileLock(private_file(path.with_suffix(".lock")), mode=0o600):
        with suppress(FileNotFoundError):
            found = read_private(path, _SECRET_BYTES)
            if len(found) == _SECRET_BYTES:
                return found
        made = os.urandom(_SECRET_BYTES)
        write_private(path, made)
        return made


def _is_empty(folder: Path) -> bool:
    """Whether nothing is there but what ``_mark`` writes at this moment."""
    with suppress(OSError):
        with os.scandir(folder) as entries:
            names = [each.name for each in entries]
        return all(map(is_temporary, names))
    return False
