"""JSON objects in an array or one after the other, read from bytes in whatever pieces they come."""

from __future__ import annotations

from .limits import Meter


class ObjectReader:
    """Splits a JSON array of objects, or a sequence of objects, into its objects."""

    def __init__(self, meter: Meter | None = None) -> None:
        self._meter = meter or Meter()
        self._object = bytearray()
        self._depth = 0
        self._quoted = False
        self._escaped = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The objects that ``chunk`` completes. Raises ``FormatError`` where they are too large."""
        self._meter.stream(chunk)
        found: list[bytes] = []
        begin = 0
        for place, byte in enumerate(chunk):
            if self._quoted:
                self._in_string(byte)
            elif byte == 0x22:
                self._quoted = self._depth > 0
            elif byte == 0x7B:
                begin = place if self._depth == 0 else begin
                self._depth += 1
            elif byte == 0x7D and self._depth:
                self._depth -= 1
                if self._depth == 0:
                    found.append(bytes(self._object) + chunk[begin : place + 1])
                    self._object.clear()
                    begin = place + 1
        if self._depth:
            self._object += chunk[begin:]
            self._meter.event(len(self._object))
        return found

    def _in_string(self, byte: int) -> None:
        if self._escaped:
            self._escaped = False
        elif byte == 0x5C:
            self._escaped = True
        elif byte == 0x22:
            self._quoted = False
