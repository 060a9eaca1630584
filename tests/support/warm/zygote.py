"""The warm process: it has imported what our programs import, and becomes one of them when asked."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

SIZE_BYTES = 8
_PACKAGES = ("toolspan_server", "toolspan_bridge")
_FOUND_LATER = (
    "toolspan_server.tools.handlers.",
    "toolspan_server.tools.kinds.",
    "toolspan_server.tools.sources.",
)
_OTHERS = (
    "mcp.client.stdio",
    "mcp.server.lowlevel",
    "jsonschema_rs",
    "rich.console",
    "uvicorn.protocols.http.h11_impl",
    "yaml",
)


def main(control_fd: int) -> None:
    """Serve requests until the other end of the socket ``control_fd`` is closed.

    A request is the size of its JSON, together with the descriptors of the program's standard streams, and
    the JSON: ``{"module" or "script", "argv", "path", "cwd", "env", "session", "group"}``. The answer is the
    id of a process.
    """
    control = socket.socket(fileno=control_fd)
    _warm_up()
    while True:
        size, streams, _, _ = socket.recv_fds(control, SIZE_BYTES, 3)
        if not size:
            return
        request = json.loads(control.recv(int.from_bytes(size), socket.MSG_WAITALL))
        pid = _forked_twice(control, request, streams)
        for fd in streams:
            os.close(fd)
        control.sendall(pid.to_bytes(SIZE_BYTES))


def _warm_up() -> None:
    for name in _OTHERS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for package in map(importlib.import_module, _PACKAGES):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__") and not found.name.startswith(_FOUND_LATER):
                importlib.import_module(found.name)
    gc.collect()
    gc.freeze()  # so that a fork's collector does not touch, and so copy, what it shares


def _forked_twice(control: socket.socket, request: dict[str, Any], streams: list[int]) -> int:
    """The program's process, which the process that asked for it inherits as the nearest subreaper."""
    told, tells = os.pipe()
    between = os.fork()
    if between == 0:
        pid = os.fork()
        if pid == 0:
            os.close(told)
            os.close(tells)
            control.close()
            _become(request, streams)
        os.write(tells, pid.to_bytes(SIZE_BYTES))
        os._exit(0)
    os.close(tells)
    os.waitpid(between, 0)
    answer = os.read(told, SIZE_BYTES)
    os.close(told)
    return int.from_bytes(answer)


def _become(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """Be the program, from its first line to its end."""
    if request["session"]:
        os.setsid()
    elif request["group"] >= 0:
        os.setpgid(0, request["group"])
    for standard, fd in enumerate(streams):
        os.dup2(fd, standard)
        os.close(fd)
    _open_standard_streams()
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    os.chdir(request["cwd"])
    sys.argv = request["argv"]
    if request["path"] is not None:
        sys.path.insert(0, request["path"] or str(Path.cwd()))
    code = _run(request)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the program may have put anything in their place, or closed it
            stream.flush()
    os._exit(code)


def _open_standard_streams() -> None:
    """New objects for the standard streams, as Python makes them at its start."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        old = getattr(sys, name)
        raw = open(old.fileno(), f"{mode}b", closefd=False)  # noqa: SIM115 - it stays open as long as the program runs
        lines = mode == "w" and (name == "stderr" or raw.isatty())
        new = io.TextIOWrapper(raw, old.encoding, old.errors, "\n" if mode == "w" else None, lines)
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def _run(request: dict[str, Any]) -> int:
    """Run the program; gives its exit code."""
    code = 0
    try:
        try:
            if "module" in request:
                runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
            else:
                sys.modules["__main__"] = ModuleType("__main__")
                runpy.run_path(request["script"], run_name="__main__")
        finally:
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    except SystemExit as ending:
        code = _code(ending)
    except KeyboardInterrupt as error:
        _show(error)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException as error:
        _show(error)
        code = 1
    return code


def _show(error: BaseException) -> None:
    sys.excepthook(type(error), error, error.__traceback__)


def _code(ending: SystemExit) -> int:
    if ending.code is None or isinstance(ending.code, int):
        return (ending.code or 0) & 0xFF
    print(ending.code, file=sys.stderr)
    return 1
