"""A program on a terminal of its own, typed at and read like a person would."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.waiting import BOUND_S


class Terminal:
    """Runs ``toolspan ARGUMENTS`` on a pseudo-terminal; every wait is bounded."""

    def __init__(self, *arguments: str, cwd: Path, patience: float = BOUND_S) -> None:
        self._patience = patience
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "toolspan_bridge", *arguments],
            cwd=cwd,
            env={**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_own_the_terminal,  # noqa: PLW1509 - only the child can take it
        )
        os.close(theirs)
        self.shown = ""
        self._seen = 0

    def type(self, text: str) -> None:
        """Press the keys of ``text``."""
        os.write(self._ours, text.encode())

    def until(self, text: str) -> str:
        """Read until ``text`` is shown after what was read before, and give what came up to its end."""
        end = time.monotonic() + self._patience
        while (found := self.shown.find(text, self._seen)) < 0:
            assert self._read(end, f"{text!r} did not appear"), f"it ended; shown:\n{self.shown}"
        came = self.shown[self._seen : found + len(text)]
        self._seen = found + len(text)
        return came

    def ended(self) -> int:
        """The exit code, once the program has ended by itself."""
        end = time.monotonic() + self._patience
        while self._read(end, "the program did not end"):
            pass
        return self.process.wait(self._patience)

    def _read(self, end: float, failure: str) -> str:
        ready, _, _ = select.select([self._ours], [], [], max(0, end - time.monotonic()))
        assert ready, f"{failure}; shown:\n{self.shown}"
        try:
            data = os.read(self._ours, 65_536).decode("utf-8", "replace")
        except OSError:  # Linux says EIO when the program has closed its end
            data = ""
        self.shown += data
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


def _own_the_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
