"""Messages between the server and a worker: JSON objects, each after its length in four bytes."""

from __future__ import annotations

import json
import struct
from typing import Any

from ...errors import ToolspanError

Message = dict[str, Any]
MAX_BYTES = 256 << 20
_LENGTH = struct.Struct(">I")


class MalformedFrame(ToolspanError):
    """What came is no message."""


def framed(message: Message) -> bytes:
    """``message`` as it is sent. Raises ``ValueError`` when JSON cannot hold it."""
    body = json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(body)) + body


class Frames:
    """Bytes as they come, and the messages in them."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        """Take what came."""
        self._bytes += data

    def next(self) -> Message | None:
        """The next message that is whole. Raises ``MalformedFrame``."""
        if len(self._bytes) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._bytes)
        if length > MAX_BYTES:
            raise MalformedFrame(f"a message of {length:,} bytes")
        end = _LENGTH.size + length
        if len(self._bytes) < end:
            return None
        body = bytes(self._bytes[_LENGTH.size : end])
        del self._bytes[:end]
        try:
            message = json.loads(body.decode("utf-8", "surrogatepass"))
        except ValueError:
            raise MalformedFrame("a message that is no JSON") from None
        if not isinstance(message, dict):
            raise MalformedFrame("a message that is no object")
        return message  # pyright: ignore[reportUnknownVariableType]  # any JSON object
