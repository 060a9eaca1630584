"""A client on standard input and output that does nothing but write and read lines."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Sequence
from time import perf_counter
from types import TracebackType
from typing import Self

from . import messages
from .processes import start, stop

_CHUNK = 1 << 20


class Stdio:
    """A server's process and the pipes to it. ``started`` is when its start was asked for."""

    def __init__(self, command: Sequence[str]) -> None:
        self.started = perf_counter()
        self.process: subprocess.Popen[bytes] = start(command, pipes=True)
        assert self.process.stdin is not None and self.process.stdout is not None
        self._in = self.process.stdin.fileno()
        self._out = self.process.stdout.fileno()
        self._rest = b""
        self.ask(messages.initialize())
        self._write(messages.INITIALIZED)

    def ask(self, request: bytes) -> bytes:
        """The one line that answers ``request``."""
        self._write(request)
        while b"\n" not in self._rest:
            self._rest += self._read()
        answer, _, self._rest = self._rest.partition(b"\n")
        return answer

    def pipelined(self, count: int, tool: str = "echo") -> float:
        """Seconds for ``count`` calls, all written without waiting. Every answer is checked afterwards."""
        requests = b"".join(messages.echo(number, tool) for number in range(1, count + 1))
        received: list[bytes] = []
        lines = 0
        writer = threading.Thread(target=self._write, args=(requests,))
        began = perf_counter()
        writer.start()
        while lines < count:
            received.append(self._read())
            lines += received[-1].count(b"\n")
        seconds = perf_counter() - began
        writer.join()
        answers = b"".join(received).splitlines()
        by_id = {json.loads(answer)["id"]: answer for answer in answers}
        for number in range(1, count + 1):
            messages.check(by_id[number], number)
        return seconds

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._in, view) :]

    def _read(self) -> bytes:
        chunk = os.read(self._out, _CHUNK)
        if not chunk:
            raise RuntimeError(f"the server ended: {self.process.args!r}")
        return chunk

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stop(self.process)
