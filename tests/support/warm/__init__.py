"""Servers and command lines that need not import everything again: forks of a process that has.

``install`` replaces ``subprocess.Popen`` in this process. A program of ours then starts as a fork of the warm
process of ``zygote.py``: our packages by ``python [-P] -m``, our commands, and scripts, which mostly use what
we import. It is a process of its own, with the pipes, folder and environment that it
was given, and a child of this one, so that it is waited for and sent signals like any other. Everything else
starts as ever, and so does each program that a test marked ``cold`` starts: one about imports, starting, or
memory.

Linux only: elsewhere every start is cold.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from typing_extensions import override

from .zygote import SIZE_BYTES

_PROGRAMS = ("toolspan_server", "toolspan_bridge")
_COMMANDS = ("toolspan", "toolspan-server")
_UNNOTICED = {"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
_BIN = Path(sys.executable).parent
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h

_cold_popen = subprocess.Popen


class _Zygote:
    """The warm process, started when it is first needed; it ends with this process."""

    def __init__(self) -> None:
        self.allowed = True
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._settings = _startup_settings(os.environ)

    def starts(self, env: Mapping[str, str]) -> bool:
        """Whether a program with ``env`` would start as the warm process itself did."""
        return self.allowed and _startup_settings(env) == self._settings

    def start(self, request: Mapping[str, Any], streams: Sequence[int]) -> int:
        """The process id of the program that ``request`` asks for (see ``zygote.main``)."""
        text = json.dumps(request).encode()
        with self._lock:
            control = self._control = self._control or self._started()
            socket.send_fds(control, [len(text).to_bytes(SIZE_BYTES)], streams)
            control.sendall(text)
            return int.from_bytes(control.recv(SIZE_BYTES, socket.MSG_WAITALL))

    def end(self) -> None:
        """End the warm process; what it has started goes on."""
        if self._control is not None and self._process is not None:
            self._control.close()
            self._process.wait()

    def _started(self) -> socket.socket:
        if ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
        ours, theirs = socket.socketpair()
        with theirs:
            root, fd = str(Path(__file__).parents[3]), theirs.fileno()
            nothing = subprocess.DEVNULL
            line = [sys.executable, "-c", _ZYGOTE, root, str(fd)]
            self._process = _cold_popen(line, stdin=nothing, stdout=nothing, pass_fds=[fd])
        return ours


_ZYGOTE = """
import sys
root, fd = sys.argv[1:]
sys.path[0] = root
from tests.support.warm.zygote import main
sys.path.pop(0)
main(int(fd))
"""

zygote: _Zygote | None = None


def install() -> None:
    """Start programs of ours warm from now on, where the platform allows it."""
    global zygote
    if sys.platform == "linux" and zygote is None:
        zygote = _Zygote()
        atexit.register(zygote.end)
        subprocess.Popen = _Popen  # type: ignore[misc]


def allow(allowed: bool) -> None:
    """Whether programs of ours start warm."""
    if zygote is not None:
        zygote.allowed = allowed


class _Popen(subprocess.Popen[Any]):
    """``subprocess.Popen``, which starts a program of ours as a fork of the warm process."""

    @override
    def _execute_child(  # type: ignore[misc]  # private, and with these parameters in Python 3.11 to 3.14
        self, args: Any, executable: Any, preexec_fn: Any, close_fds: bool, pass_fds: Any, cwd: Any, env: Any,
        startupinfo: Any, creationflags: int, shell: bool, p2cread: int, p2cwrite: int, c2pread: int,
        c2pwrite: int, errread: int, errwrite: int, restore_signals: bool, gid: Any, gids: Any, uid: Any,
        umask: int, start_new_session: bool, process_group: int,
    ) -> None:  # fmt: skip
        environment = dict(os.environ if env is None else env)
        folder = os.fspath(cwd or Path.cwd())
        program = _program(args, folder, environment)
        unusual = executable or preexec_fn or pass_fds or shell or not close_fds or not restore_signals
        as_others = gid is not None or gids is not None or uid is not None or umask >= 0
        ordinary = not unusual and not as_others and Path(folder).is_dir()
        if zygote is None or program is None or not ordinary or not zygote.starts(environment):
            super()._execute_child(  # type: ignore[misc]
                args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags,
                shell, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, restore_signals, gid, gids,
                uid, umask, start_new_session, process_group,
            )  # fmt: skip
            return
        request = {
            **program,
            "cwd": folder,
            "env": environment,
            "session": start_new_session,
            "group": process_group,
        }
        streams = [fd if fd >= 0 else standard for standard, fd in enumerate((p2cread, c2pwrite, errwrite))]
        self.pid = zygote.start(request, streams)
        self._child_created = True
        ends = (p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)
        self._close_pipe_fds(*ends)  # type: ignore[attr-defined]


def _program(args: Any, folder: str, env: Mapping[str, str]) -> dict[str, Any] | None:
    """What of ours a command line runs."""
    if isinstance(args, str | bytes | os.PathLike):
        return None
    line = [os.fspath(each) for each in cast("Sequence[str | os.PathLike[str]]", args)]
    if Path(line[0]).name in _COMMANDS:
        found = shutil.which(line[0], path=env.get("PATH", ""))
        ours = found is not None and Path(found).parent == _BIN
        return {"script": found, "argv": [found, *line[1:]], "path": str(_BIN)} if ours else None
    if line[0] != sys.executable:
        return None
    safe = line[1:2] == ["-P"]
    rest = line[2:] if safe else line[1:]
    if rest[:1] == ["-m"] and rest[1] in _PROGRAMS:
        return {"module": rest[1], "argv": rest[1:], "path": None if safe else ""}
    if rest and rest[0].endswith(".py"):
        place = str(Path(folder, rest[0]).resolve().parent)
        return {"script": rest[0], "argv": rest, "path": None if safe else place}
    return None


def _startup_settings(env: Mapping[str, str]) -> dict[str, str]:
    """The variables that Python reads when it starts and that its programs notice."""
    read = {name: env[name] for name in env if name.startswith(("PYTHON", "LC_")) or name == "LANG"}
    return {name: read[name] for name in read if name not in _UNNOTICED}
