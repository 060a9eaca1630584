"""The transport of a connection, as uvicorn sees it."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from typing_extensions import override

_MUCH = 65_536


class Closing(Protocol):
    """Decides when a connection closes."""

    parted: bool

    def wrote_much(self) -> None:
        """Record that much is written at once."""
        ...

    def close(self) -> None:
        """Close when everything is done."""
        ...


class CountingTransport(asyncio.Transport):
    """Uvicorn's transport: counts what is written, and leaves closing to the connection."""

    def __init__(self, transport: asyncio.Transport, connection: Closing) -> None:
        super().__init__()
        self._transport = transport
        self._connection = connection
        self.written = 0

    @override
    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    @override
    def pause_reading(self) -> None:
        self._transport.pause_reading()

    @override
    def resume_reading(self) -> None:
        self._transport.resume_reading()

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        size = len(data)
        self.written += size
        self._transport.write(data)
        if size > _MUCH:
            self._connection.wrote_much()

    @override
    def is_closing(self) -> bool:
        return self._connection.parted or self._transport.is_closing()

    @override
    def close(self) -> None:
        self._connection.close()
