"""Caches parsed request heads: clients send the same one again and again, except for the length.

Without the cache a call over HTTP costs 1.30 times as much processor time (``benchmarks/shortcuts.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..asgi import Header

if TYPE_CHECKING:
    from httptools import HttpRequestParser

    from ...config import LimitsConfig

_END = b"\r\n\r\n"
_LENGTH = b"\r\ncontent-length: "
_MOST_DIGITS = 9
_MOST_BYTES = 2_048
_MOST_HEADS = 8


class ParsedHead:
    """A head as the parser read it, with any Content-Length.

    ``before`` and ``after`` are its bytes around that value. ``fields`` has each header (see ``combined``)
    except Content-Length. ``allowed_by`` are the checks that it passed, of those that depend on the head
    only.
    """

    __slots__ = ("_headers", "_length_at", "_scope", "after", "allowed_by", "before", "fields")

    def __init__(self, before: bytes, after: bytes, scope: Mapping[str, Any]) -> None:
        self.before, self.after = before, after
        self._scope = dict(scope)
        self._headers: list[Header] = scope["headers"].copy()
        names = [name for name, _ in self._headers]
        self._length_at = names.index(b"content-length")
        self.fields = combined(self._headers)
        del self.fields[b"content-length"]
        self.allowed_by: object = None

    def scope(self, length: bytes, state: dict[str, Any]) -> dict[str, Any]:
        """The scope of another request with this head."""
        headers = self._headers.copy()
        headers[self._length_at] = (b"content-length", length)
        scope = self._scope.copy()
        scope["headers"] = headers
        scope["state"] = state
        return scope


Request = tuple[ParsedHead, bytes, bytes]
"""A complete request: its head, the value of its Content-Length, its body."""


class HeadCache:
    """The latest heads of one connection."""

    def __init__(self, limits: LimitsConfig) -> None:
        self._most_bytes = min(_MOST_BYTES, limits.header_bytes // 2)
        self._most_in_a_body = limits.message_bytes
        self._known: list[ParsedHead] = []
        self._in_vain = 0

    def read(self, data: bytes) -> Request | None:
        """The request in ``data``, if that is a complete one whose head is cached."""
        for head in self._known:
            if data.startswith(head.before):
                start = len(head.before)
                end = data.find(b"\r", start, start + _MOST_DIGITS + 1)
                if data.startswith(head.after, end):
                    length, body = data[start:end], data[end + len(head.after) :]
                    fits = length.isdigit() and int(length) == len(body) <= self._most_in_a_body
                    self._in_vain = 0
                    return (head, length, body) if fits else None
        return None

    def learn(self, data: bytes, scope: Mapping[str, Any], body: bytes | bytearray) -> None:
        """Cache the head of the request ``data``, whose ``body`` the parser found at its end.

        If no head was repeated for long, only one in ``_MOST_HEADS`` is cached: caching costs as much as it
        saves.
        """
        self._in_vain += 1
        if self._in_vain > 2 * _MOST_HEADS and self._in_vain % _MOST_HEADS:
            return
        size = data.find(_END) + len(_END)
        at = data[:size].lower().find(_LENGTH)
        if at < 0 or size > self._most_bytes or data[size:] != body:
            return
        start = at + len(_LENGTH)
        end = data.find(b"\r", start)
        if len(self._known) >= _MOST_HEADS:
            self._known.pop()
        self._known.insert(0, ParsedHead(data[:start], data[end:size], scope))


def combined(lines: list[Header]) -> dict[bytes, bytes]:
    """The headers by name. Lines of one name are one list (RFC 9110, 5.3)."""
    headers = dict(lines)
    if len(headers) == len(lines):
        return headers
    headers.clear()
    for name, value in lines:
        headers[name] = headers[name] + b", " + value if name in headers else value
    return headers


def without_offer(parser: HttpRequestParser, target: bytes, lines: list[Header]) -> bytes:
    """The head that ``parser`` read, without its offer of another protocol.

    The offer may be ignored (RFC 9110, 7.8). The head goes to a new parser: this one would read the body
    as the first bytes of that protocol.
    """
    version = parser.get_http_version().encode()
    first = b"%s %s HTTP/%s" % (parser.get_method(), target, version)
    kept = [b"%s: %s" % line for line in lines if line[0] != b"upgrade"]
    return b"\r\n".join([first, *kept, b"", b""])
