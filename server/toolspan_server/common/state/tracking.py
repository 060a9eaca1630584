"""Whether a version control may bring files into a state folder: then it is not ours, whatever its mark says.

A mark says who made a folder, not who filled it: a pull writes every file of a commit, also beneath a folder
that was here before. So state is kept in a folder of a git work tree only while git tracks nothing in it,
which its index says: git writes and removes the files that are there and no others. Git is not run. What
other version controls track is not known, so state is not kept in their working copies at all.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

STATE_FOLDER = ".toolspan"

_OTHERS = {
    ".hg": "Mercurial",
    ".svn": "Subversion",
    ".bzr": "Bazaar",
    ".jj": "Jujutsu",
    ".sl": "Sapling",
    "CVS": "CVS",
    "_darcs": "Darcs",
    ".pijul": "Pijul",
    ".fslckout": "Fossil",
    "_FOSSIL_": "Fossil",
}
_HEADER = struct.Struct(">4sII")
_STAT_BYTES = 40
_EXTENDED = 0x4000
_UNKNOWN = "git's index {} cannot be read, so it is not known what git tracks in it"

_roots: set[Path] = set()
"""Folders with other names than ``.toolspan`` that must be untracked."""
_directories: dict[Path, list[tuple[str, str]]] = {}
"""Of folders, the work trees that they lie in, each with its git directory."""
_judged: dict[Path, tuple[tuple[object, ...], str]] = {}
"""What was said of a folder, and the index files that it was said by."""


def require_untracked(folder: Path) -> None:
    """Have ``check_untracked`` know the state folder ``folder``, whose name is another than ``.toolspan``."""
    _roots.add(folder)


def check_untracked(path: Path) -> None:
    """Raise ``OSError`` where git tracks something in the state folder that ``path`` is, or lies in.

    A pull beside a server that runs is noticed so: an index that has not changed costs its ``stat``. A new
    git directory is noticed by ``tracked_by_git``.
    """
    if not _roots and STATE_FOLDER not in str(path):
        return
    for each in (path, *path.parents):
        if (each.name == STATE_FOLDER or each in _roots) and (why := _look_up(each)):
            raise OSError(errno.EPERM, why, str(each))


def why_tracked(folder: Path) -> str:
    """Why a version control may bring files into ``folder``, a resolved path of what need not be there; empty
    where none does."""
    for above in folder.parents:
        for name, control in _OTHERS.items():
            if os.path.lexists(above / name):
                return f"{above} is a working copy of {control}, which may bring files into it"
    return tracked_by_git(folder)


def tracked_by_git(folder: Path) -> str:
    """``why_tracked``, of git alone."""
    _directories.pop(folder, None)
    return _look_up(folder)


def _look_up(folder: Path) -> str:
    if (directories := _directories.get(folder)) is None:
        try:
            directories = _directories[folder] = [*_git_directories(folder)]
        except OSError as error:
            return _UNKNOWN.format(f"beside {error.filename}")
    now = (*((directory, _marks(directory)) for _, directory in directories),)
    known = _judged.get(folder)
    if known is None or known[0] != now:
        judged = (_judge(Path(tree), Path(directory), folder) for tree, directory in directories)
        known = _judged[folder] = now, next(filter(None, judged), "")
    return known[1]


def _git_directories(folder: Path) -> Iterator[tuple[str, str]]:
    """The work trees that ``folder`` lies in, each with its git directory."""
    tree = str(folder)
    while (above := os.path.dirname(tree)) != tree:  # noqa: PTH120
        tree, place = above, os.path.join(above, ".git")  # noqa: PTH118
        try:
            found = os.stat(place)  # noqa: PTH116
        except OSError:
            continue
        if stat.S_ISDIR(found.st_mode):
            yield tree, place
        elif stat.S_ISREG(found.st_mode):  # of a work tree or a submodule
            with open(place, "rb") as file:  # noqa: PTH123
                written = file.read(4_096)
            if written.startswith(b"gitdir:"):
                named = os.fsdecode(written.removeprefix(b"gitdir:").strip())
                yield tree, os.path.join(tree, named)  # noqa: PTH118


def _marks(directory: str) -> tuple[int, ...]:
    try:
        found = os.stat(os.path.join(directory, "index"))  # noqa: PTH116, PTH118
    except OSError as error:
        return (error.errno or 0,)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _judge(tree: Path, directory: Path, folder: Path) -> str:
    index = directory / "index"
    shared = sorted(directory.glob("sharedindex.*"))  # the rest of an index that was split
    try:
        texts = [each.read_bytes() for each in (index, *shared) if each.exists()]
        ignores_case = (tree / ".GIT").exists() or folder.with_name(folder.name.swapcase()).exists()
        named = next(filter(None, (_find(text, directory, tree, folder, ignores_case) for text in texts)), "")
    except (OSError, ValueError, IndexError, struct.error):
        return _UNKNOWN.format(index)
    return f"git tracks files in it, so others may write them ({named})" if named else ""


def _find(index: bytes, directory: Path, tree: Path, folder: Path, ignores_case: bool) -> str:
    """The first path in ``index`` that is ``folder`` or lies in it; empty where there is none."""
    relative = folder.relative_to(tree).as_posix()
    signature, version, count = _HEADER.unpack_from(index)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError(version)
    is_spelled_out = version < 4 and not ignores_case and b"sdir" not in index
    if is_spelled_out and os.fsencode(relative) not in index:
        return ""
    fold = _folded if ignores_case else bytes
    wanted = fold(os.fsencode(relative))
    below = wanted + b"/"
    for path in _paths(index, version, count, _hash_bytes(directory)):
        spelled = fold(path)
        is_above = spelled.endswith(b"/") and below.startswith(spelled)  # of a sparse index
        if is_above or spelled == wanted or spelled.startswith(below):
            return os.fsdecode(path)
    return ""


def _folded(path: bytes) -> bytes:
    from ..obeyed_names import fold_name

    return path.lower() if path.isascii() else os.fsencode(fold_name(os.fsdecode(path)))


def _paths(index: bytes, version: int, count: int, hash_bytes: int) -> Iterator[bytes]:
    """The paths in ``index`` (gitformat-index(5))."""
    at, path = _HEADER.size, b""
    for _ in range(count):
        start = at
        at += _STAT_BYTES + hash_bytes
        flags = int.from_bytes(index[at : at + 2], "big")
        at += 4 if flags & _EXTENDED and version > 2 else 2
        if version == 4:
            cut, at = _number(index, at)
            path = path[: len(path) - cut]
        else:
            path = b""
        end = index.index(b"\0", at)
        path += index[at:end]
        at = end + 1 if version == 4 else start + (end - start + 8) // 8 * 8
        yield path


def _number(index: bytes, at: int) -> tuple[int, int]:
    """The number of variable length at ``at``, and where it ends (git's varint.c)."""
    byte = index[at]
    found = byte & 127
    while byte & 128:
        at += 1
        byte = index[at]
        found = (found + 1 << 7) + (byte & 127)
    return found, at + 1


def _hash_bytes(directory: Path) -> int:
    """How long the hashes of a repository are."""
    from ..git_programs import read_settings, read_start

    common = read_start(directory / "commondir")
    config = read_start((directory / common.strip() if common else directory) / "config", 1_048_576) or ""
    formats = [value for name, value in read_settings(config) if name == "extensions.objectformat"]
    return 32 if formats and formats[-1].lower() == "sha256" else 20
