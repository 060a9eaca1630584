"""Amazon's binary event stream, written: the frames that the fakes send."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping


def frame(payload: bytes, *, event: str = "", exception: str = "", **headers: str) -> bytes:
    """An event or an exception with its usual headers, or a message with ``headers`` (``_`` for ``-``)."""
    kind = {":message-type": "exception", ":exception-type": exception} if exception else {}
    if event:
        kind = {":message-type": "event", ":event-type": event}
    named = {f":{name.replace('_', '-')}": value for name, value in headers.items()}
    strings = {":content-type": "application/json", **kind, **named}
    return raw_frame(payload, {name: b"\x07" + _sized(value.encode()) for name, value in strings.items()})


def raw_frame(payload: bytes, headers: Mapping[str, bytes]) -> bytes:
    """A frame whose header values are given in bytes, their type first."""
    block = b"".join(bytes([len(name.encode())]) + name.encode() + value for name, value in headers.items())
    prelude = struct.pack(">II", 16 + len(block) + len(payload), len(block))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + block + payload
    return body + struct.pack(">I", zlib.crc32(body))


def _sized(value: bytes) -> bytes:
    return struct.pack(">H", len(value)) + value
