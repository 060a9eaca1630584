"""Linux: bubblewrap, which builds a file system, a process table and a network of the command's own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ._reach import SECRET, SYSTEM, Reach

_HOME = "/tmp/home"
_NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl/certs", "/etc/localtime")
_FILTER_AT = "9"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Bubblewrap:
    """Runs commands by the program at ``path``. ``options`` are those that it knows besides the old ones."""

    name = "bubblewrap"
    wrapped = True

    def __init__(self, path: str, options: frozenset[str]) -> None:
        self._path = path
        self._options = options

    def command(self, words: Sequence[str], reach: Reach, threads: int, shared_bytes: int) -> list[str]:
        """``sh -c 'exec "$@" 9<FILTER' … bwrap … -- sh -c 'ulimit …; exec "$@"' sh WORDS``.

        The number of threads is limited inside, where the kernel counts only those of the command.
        """
        limited = f'ulimit -u {threads} 2>/dev/null || ulimit -p {threads} 2>/dev/null; exec "$@"'
        return [
            *_filtered(reach.filter),
            self._path,
            *self._namespaces(reach),
            *(() if reach.filter is None else ("--seccomp", _FILTER_AT)),
            *_system(),
            *self._devices(shared_bytes),
            *_bound("--bind", reach.temporary, "/tmp"),
            *(word for path in reach.readable for word in _readable(path)),
            *_folders(reach),
            *("--remount-ro", "/"),
            *("--chdir", str(reach.workspace)),
            "--",
            *("/bin/sh", "-c", limited, "sh", *words),
        ]

    def environment(self, reach: Reach) -> dict[str, str]:
        """Nothing of the server's but the language and the time zone."""
        return {
            "PATH": _PATH,
            "HOME": _HOME,
            "TMPDIR": "/tmp",
            "PWD": str(reach.workspace),
            "USER": "sandbox",
            "LOGNAME": "sandbox",
            "SHELL": "/bin/sh",
            "TERM": "dumb",
        }

    def _namespaces(self, reach: Reach) -> Iterator[str]:
        yield from (
            "--unshare-user",
            "--unshare-ipc",
            "--unshare-pid",
            "--unshare-uts",
            "--unshare-cgroup-try",
        )
        if not reach.network:
            yield "--unshare-net"
        yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL")
        if "--disable-userns" in self._options:
            yield "--disable-userns"

    def _devices(self, shared_bytes: int) -> Iterator[str]:
        yield from ("--proc", "/proc", "--dev", "/dev")
        if "--size" in self._options:
            yield from ("--size", str(shared_bytes))
        yield from ("--tmpfs", "/dev/shm", "--remount-ro", "/dev")


def _filtered(file: Path | None) -> Sequence[str]:
    """The words by which a program starts with ``file`` open where bubblewrap is told to read it."""
    return () if file is None else ("/bin/sh", "-c", f'exec "$@" {_FILTER_AT}<"$0"', str(file))


def _system() -> Iterator[str]:
    for path in SYSTEM:
        if Path(path).is_symlink():
            yield from ("--symlink", os.readlink(path), path)  # noqa: PTH115 - as it is written
        elif Path(path).exists():
            yield from ("--ro-bind", path, path)
    for path in _NETWORK_FILES:
        target = os.path.realpath(path)
        if not target.startswith(tuple(f"{folder}/" for folder in SYSTEM)) and Path(target).exists():
            yield from ("--ro-bind", target, target)  # such as /run/systemd/resolve/stub-resolv.conf
    for path in SECRET:
        if Path(path).is_dir():
            yield from ("--tmpfs", path, "--remount-ro", path)
        elif Path(path).exists():
            yield from ("--ro-bind", "/dev/null", path)


def _readable(path: Path) -> Iterator[str]:
    if path.exists():
        yield from _bound("--ro-bind", path)


def _folders(reach: Reach) -> Iterator[str]:
    """The folders to write to, and over them what is to stay as it is.

    The folders that lead to what stays, or is hidden, are mounted on themselves: what is mounted cannot be
    moved away.
    """
    for folder in reach.folders:
        yield from _bound("--bind", folder)
    kept = reach.kept()
    pinned = (*kept, *reach.unseen(), *reach.denied)
    above = {parent for path in pinned for parent in path.parents if _is_inside(parent, reach.folders)}
    for parent in sorted(above):
        yield from _bound("--bind", parent)
    for path in kept:
        yield from _bound("--ro-bind", path)
    for path in reach.unseen():
        yield from ("--tmpfs", str(path), "--remount-ro", str(path))
    if reach.nothing is not None:
        for path in reach.denied:
            sort = "folder" if path.is_dir() else "file"
            yield from _bound("--ro-bind", reach.nothing / sort, str(path))


def _is_inside(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) and path != folder for folder in folders)


def _bound(option: str, source: Path, target: str | None = None) -> tuple[str, str, str]:
    return option, str(source), target or str(source)
