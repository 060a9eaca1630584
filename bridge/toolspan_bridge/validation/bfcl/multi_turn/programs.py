"""The leaderboard's own programs, which the user installs: found, and run in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, cast

from ....errors import UsageError

__all__ = [
    "HOW_TO_INSTALL",
    "PYTHON_VARIABLE",
    "Installed",
    "Programs",
    "ProgramsFault",
    "installed_programs",
    "needed_programs",
]

PYTHON_VARIABLE = "TOOLSPAN_BFCL_PYTHON"
"""The environment variable with the Python that has the package ``bfcl_eval``, where it is not our own."""

_PACKAGE = "bfcl_eval"
"""The leaderboard's own package: looked for, and run in a process of its own, but never imported here."""

HOW_TO_INSTALL = (
    "install them with 'pip install --no-deps bfcl_eval==2026.3.23 mpmath', in this environment or in one of "
    f"their own, whose Python ${PYTHON_VARIABLE} names"
)

_SECONDS = 30.0
_LONGEST = 64 << 20
_KEPT = ("PATH", "SYSTEMROOT", "LANG", "TZ")


class ProgramsFault(Exception):
    """The programs gave no answer; the text says why."""


class Programs:
    """One process with the programs, started when it is first asked. Its state is that of the conversation
    that it performs. It has none of our environment's variables but the path, and works in an empty folder.
    """

    def __init__(self, python: str) -> None:
        self._python = python
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: weakref.finalize[Any, Any] | None = None

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to ``request``, as ``performer`` says; blocks for at most 30 seconds.

        Raises ``ProgramsFault``: the process has ended then, or the request itself ends with an error.
        """
        line = json.dumps(request).encode() + b"\n"
        with self._lock:
            found = self._exchange(line)
        if "error" in found:
            raise ProgramsFault(str(found["error"]))
        return found

    def close(self) -> None:
        """End the process. Another request starts it anew."""
        if self._end is not None:
            self._end()

    def _exchange(self, line: bytes) -> dict[str, Any]:
        process, late = self._started(), threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        over = threading.Timer(_SECONDS, stop)
        over.start()
        try:
            stdin, stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
            stdin.write(line)
            stdin.flush()
            answer = stdout.readline(_LONGEST)
            if answer.endswith(b"\n"):
                return cast("dict[str, Any]", json.loads(answer))
        except (OSError, ValueError):  # its pipes are closed: it has ended
            pass
        finally:
            over.cancel()
        self.close()
        return {"error": f"no answer within {_SECONDS:g} s" if late.is_set() else "the process ended"}

    def _started(self) -> subprocess.Popen[bytes]:
        if self._end is not None and self._end.alive and self._process is not None:
            return self._process
        folder = tempfile.TemporaryDirectory(prefix="toolspan-bfcl-")
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        try:
            self._process = subprocess.Popen(
                [self._python, "-I", "-B", str(Path(__file__).with_name("performer.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder.name,
                env=kept,
                start_new_session=True,
            )
        except OSError as error:
            folder.cleanup()
            raise ProgramsFault(f"{self._python} cannot be run: {error.strerror}") from None
        self._end = weakref.finalize(self, _end, self._process, folder)
        return self._process


def _end(process: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # what was written last is for nobody
                continue
    folder.cleanup()


@dataclass(frozen=True)
class Installed:
    """The programs that are installed: of which ``version``, for which ``python``; ``functions`` are those of
    each class, ``steps`` how many steps a turn may take, ``added`` what is said when functions are added."""

    python: str
    version: str
    steps: int
    added: str
    functions: Mapping[str, list[dict[str, Any]]]
    judge: Programs = field(repr=False, compare=False)


def installed_programs() -> Installed | str:
    """The programs of the Python that the environment variable names, or of our own; else why there are none,
    and what to do."""
    named = os.environ.get(PYTHON_VARIABLE)
    if not named and find_spec(_PACKAGE) is None:
        return (
            "its cases are scored by the state in which calls leave the leaderboard's own programs (a file "
            f"system, a car, a trading account), which are no part of Toolspan: {HOW_TO_INSTALL}"
        )
    return _described(named or sys.executable)


@cache
def _described(python: str) -> Installed | str:
    programs = Programs(python)
    try:
        return Installed(python, judge=programs, **programs.ask({"do": "describe"}))
    except (ProgramsFault, TypeError) as fault:
        programs.close()
        return f"the leaderboard's own programs cannot be run with {python} ({fault}): {HOW_TO_INSTALL}"


def needed_programs() -> Installed:
    """The programs. Raises ``UsageError`` where there are none."""
    found = installed_programs()
    if isinstance(found, str):
        raise UsageError(f"multi_turn cannot be scored: {found}")
    return found
