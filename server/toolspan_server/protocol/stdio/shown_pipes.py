"""The client's two pipes, every line of them told to whoever watches the wire."""

from __future__ import annotations

from typing_extensions import override

from ...common.lines import Lines, Overlong
from ...common.wire.json_rpc import JsonRpcWire, json_rpc_wire
from .pipes import Pipes


class ShownPipes(Pipes):
    """As ``Pipes``; lines are told as they come and as they are to go."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        super().__init__(read_fd, write_fd)
        self._wire: JsonRpcWire | None = json_rpc_wire("client")
        self._lines = Lines()

    @override
    def next_chunk(self, seconds: float) -> bytes | None:
        chunk = super().next_chunk(seconds)
        self._tell(chunk)
        return chunk

    @override
    def write(self, data: bytes) -> None:
        if self._wire is not None and data.strip():
            self._wire.sent(data.rstrip(b"\n"))
        super().write(data)

    @override
    def _take(self, chunk: bytes | None) -> None:
        self._tell(chunk)
        super()._take(chunk)

    def _tell(self, chunk: bytes | None) -> None:
        if self._wire is None or chunk is None:
            return
        for line in self._lines.feed(chunk) if chunk else [self._lines.end()]:
            if isinstance(line, Overlong):
                self._wire.note("a line that is too long; its beginning", sent=False, body=line.head)
            elif line.strip():
                self._wire.received(line)
