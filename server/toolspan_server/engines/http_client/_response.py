"""What came back: read within limits, whatever the other side sends."""

from __future__ import annotations

import re
import zlib
from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass

from ._errors import bad_response, too_large

_GZIP = zlib.MAX_WBITS | 16
_TEXTUAL = re.compile(
    r"utf_?(?:8|16|32)(?:_[bl]e|_sig)?|ascii|latin_1|iso8859_\d+|cp\d+|koi8_\w+|shift_?jis\w*|euc_\w+|gb\w+"
    r"|big5\w*|mac_\w+|johab|hz|tis_620|iso2022_\w+"
)
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A whole response. Header names are in lower case; ``url`` is where it came from at last."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str = ""
    host: str = ""

    @property
    def media_type(self) -> str:
        """The media type in lower case, such as ``application/json``; empty when there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """The encoding of the body: by its first bytes or its header, else UTF-8."""
        for mark, encoding in _BOMS:
            if self.body.startswith(mark):
                return encoding
        return charset_of(self.headers.get("content-type", ""))

    def text(self) -> str:
        """The body as text. Raises ``UnicodeError`` where that is not its charset."""
        return self.body.decode(self.charset)

    def start(self, most: int) -> str:
        """The first ``most`` bytes of the body as text. What its charset does not know is replaced."""
        return self.body[:most].decode(self.charset, "replace")


def charset_of(content_type: str) -> str:
    """The charset that a ``Content-Type`` names when it is one of texts, else UTF-8."""
    import codecs

    named = re.search(r";\s*charset\s*=\s*\"?([A-Za-z0-9_:.+-]{1,40})", content_type, re.IGNORECASE)
    if named is None:
        return "utf-8"
    try:
        name = codecs.lookup(named[1]).name.replace("-", "_")
    except (LookupError, ValueError):
        return "utf-8"
    return name if _TEXTUAL.fullmatch(name) else "utf-8"


async def read_body(chunks: AsyncIterable[bytes], headers: Mapping[str, str], limit: int, host: str) -> bytes:
    """The body, unpacked. Raises ``ToolFailure`` past ``limit`` bytes, packed or not."""
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > limit:
        raise too_large(host, limit)
    unpacker = _unpacker(headers.get("content-encoding", ""), host)
    parts: list[bytes] = []
    packed = size = 0
    async for chunk in chunks:
        packed += len(chunk)
        part = chunk if unpacker is None else unpacker.unpacked(chunk, limit - size + 1)
        size += len(part)
        if max(packed, size) > limit:
            raise too_large(host, limit)
        parts.append(part)
    if unpacker is not None and packed and not unpacker.ended:
        raise bad_response(f"The answer of {host} ends in the middle of its packed content")
    return b"".join(parts)


class _Unpacker:
    """``gzip`` or ``deflate`` in bounded steps."""

    def __init__(self, bits: int, host: str) -> None:
        self._zlib = zlib.decompressobj(bits)
        self._raw = bits == zlib.MAX_WBITS
        self._host = host

    @property
    def ended(self) -> bool:
        return self._zlib.eof

    def unpacked(self, chunk: bytes, most: int) -> bytes:
        """At most ``most`` bytes, of which the last one is already too much."""
        try:
            return self._zlib.decompress(chunk, most)
        except zlib.error:
            if not self._raw:
                raise bad_response(f"The answer of {self._host} is packed in no way that is known") from None
        self._raw, self._zlib = False, zlib.decompressobj(-zlib.MAX_WBITS)
        return self.unpacked(chunk, most)


def _unpacker(encoding: str, host: str) -> _Unpacker | None:
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return _Unpacker(_GZIP, host)
        case "deflate":
            return _Unpacker(zlib.MAX_WBITS, host)
        case other:
            raise bad_response(f"The answer of {host} is packed as {other[:40]!r}, which was not asked for")
