"""A program on a terminal of its own, typed at and read like a person would."""

from __future__ import annotations

import codecs
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.waiting import BOUND_S


class Terminal:
    """Runs ``toolspan ARGUMENTS`` on a pseudo-terminal; every wait is bounded.

    ``size`` is that of the terminal, in lines and columns; without it the terminal does not tell one.
    """

    def __init__(
        self,
        *arguments: str,
        cwd: Path,
        patience: float = BOUND_S,
        size: tuple[int, int] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._patience = patience
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ours, theirs = pty.openpty()
        if size is not None:
            termios.tcsetwinsize(theirs, size)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "toolspan_bridge", *arguments],
            cwd=cwd,
            env={**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **(environment or {})},
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
            assert self._read(end, f"{text!r} did not appear"), f"it ended; shown:\n{self}"
        came = self.shown[self._seen : found + len(text)]
        self._seen = found + len(text)
        return came

    def ended(self) -> int:
        """The exit code, once the program has ended by itself."""
        end = time.monotonic() + self._patience
        while self._read(end, "the program did not end"):
            pass
        return self.process.wait(self._patience)

    def _read(self, end: float, failure: str) -> bool:
        """Read what comes next; whether the program still runs."""
        ready, _, _ = select.select([self._ours], [], [], max(0, end - time.monotonic()))
        assert ready, f"{failure}; shown:\n{self}"
        try:
            data = os.read(self._ours, 65_536)
        except OSError:  # Linux says EIO when the program has closed its end
            data = b""
        text = self._decoder.decode(data, final=not data)
        self.shown += text
        self._received(text)
        return bool(data)

    def _received(self, text: str) -> None:
        """``text`` has come."""

    def __str__(self) -> str:
        return self.shown

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
