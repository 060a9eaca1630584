"""macOS: ``sandbox-exec``, which holds a process and its children to a profile (Seatbelt)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...common.obeyed_names import ANY_DOT_NAME, INERT
from ._reach import Reach

PROGRAM = "/usr/bin/sandbox-exec"
_READABLE = (
    "/usr",
    "/bin",
    "/sbin",
    "/System",
    "/Library",
    "/opt",
    "/Applications/Xcode.app",
    "/private/etc",
    "/private/var/db/timezone",
    "/private/var/db/dyld",
    "/private/var/select",
    "/nix/store",
)
_DEVICES = (
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/dtracehelper",
    "/dev/fd",
)
_BASE = """\
(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read (sysctl-name-prefix "hw.") (sysctl-name-prefix "kern.os") (sysctl-name "kern.argmax")
  (sysctl-name "kern.hostname") (sysctl-name "kern.maxfilesperproc") (sysctl-name "kern.ngroups")
  (sysctl-name "kern.version") (sysctl-name-prefix "machdep.cpu.") (sysctl-name "vm.loadavg"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership") (global-name "com.apple.system.logger"))
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow file-read-metadata)
(allow file-read* (literal "/"))
"""
_NETWORK = """\
(allow network*)
(allow system-socket)
(allow mach-lookup (global-name "com.apple.dnssd.service")
  (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.trustd.agent")
  (global-name "com.apple.networkd"))
"""


class Seatbelt:
    """Runs commands by ``sandbox-exec``. It keeps no process table of its own: the supervisor ends them."""

    name = "sandbox-exec"
    wrapped = False

    def __init__(self, path: str = PROGRAM) -> None:
        self._path = path

    def command(self, words: Sequence[str], reach: Reach, threads: int, shared_bytes: int) -> list[str]:
        """``sandbox-exec -p PROFILE WORDS``."""
        return [self._path, "-p", profile(reach), *words]

    def environment(self, reach: Reach) -> dict[str, str]:
        """Nothing of the server's."""
        temporary = str(reach.temporary)
        return {
            "PATH": "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": f"{temporary}/home",
            "TMPDIR": temporary,
            "PWD": str(reach.workspace),
            "SHELL": "/bin/sh",
            "TERM": "dumb",
        }


def profile(reach: Reach) -> str:
    """The profile for ``reach``. What comes later in it overrides what comes before."""
    return _BASE + "\n".join(_rules(reach)) + "\n" + (_NETWORK if reach.network else "")


def _rules(reach: Reach) -> Iterator[str]:
    yield f"(allow file-read* {_paths((*_READABLE, *_DEVICES))})"
    yield f"(allow file-write-data {_paths(_DEVICES)})"
    if reach.readable:
        yield f"(allow file-read* {_paths(map(str, reach.readable))})"
    yield f"(allow file-read* file-write* {_paths(map(str, (*reach.folders, reach.temporary)))})"
    yield "(deny file-write-setugid)"
    kept = reach.kept()
    if kept:
        yield f"(deny file-write* {_paths(map(str, kept))})"
        above = {
            parent
            for path in kept
            for parent in path.parents
            if parent in reach.folders or _inside(parent, reach)
        }
        yield (
            "(deny file-write-unlink "
            + " ".join(f"(literal {_quoted(str(each))})" for each in sorted(above))
            + ")"
        )
    yield from _named(reach)
    closed = [str(path) for path in (*reach.unseen(), *reach.denied)]
    if closed:
        yield f"(deny file-read* file-write* {_paths(closed)})"


def _named(reach: Reach) -> Iterator[str]:
    """What stays as it is by its name, also where it is not there yet."""
    for folder in map(_pattern, map(str, reach.folders)):
        for name in reach.obeyed:
            anywhere = r"/[.][^/]+" if name == ANY_DOT_NAME else f"/(.*/)?{_pattern(name)}"
            yield f'(deny file-write* (regex #"^{folder}{anywhere}(/|$)"))'
            if name == ANY_DOT_NAME:
                yield from (
                    f'(allow file-write* (regex #"^{folder}/{_pattern(each)}(/|$)"))' for each in INERT
                )


def _pattern(name: str) -> str:
    """A regular expression of ``name`` in any case; ``*`` in it is any text."""
    known = {"*": "[^/]*", '"': "."}
    letters = (f"[{each.lower()}{each.upper()}]" if each.isalpha() else re.escape(each) for each in name)
    return "".join(known.get(each, letter) for each, letter in zip(name, letters, strict=True))


def _inside(path: Path, reach: Reach) -> bool:
    return any(path.is_relative_to(folder) for folder in reach.folders)


def _paths(paths: Sequence[str] | Iterator[str]) -> str:
    return " ".join(f"(subpath {_quoted(path)})" for path in paths)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
