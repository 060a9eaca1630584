"""Images, sounds and documents of a request, as parts of a user's message or of a result."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode

from ...messages import Part
from .faults import RequestFault

__all__ = ["data_url_part", "media_part", "text_part"]

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.+-]+=[^;,]*)*;base64,(.*)", re.DOTALL)


def text_part(text: str) -> Part:
    """A part of words."""
    return Part("text", {"type": "text", "text": text})


def media_part(media_type: str, data: str, place: str, name: str = "") -> Part:
    """The part of base64 ``data``, which stands at ``place``. Raises ``RequestFault`` where it is none."""
    try:
        b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise RequestFault(f"{place} must be base64", param=place) from None
    kind = media_type.partition("/")[0]
    if kind in ("image", "audio"):
        return Part(kind, {"type": kind, "data": data, "mimeType": media_type})
    resource = {"uri": f"attachment:{name or 'document'}", "mimeType": media_type, "blob": data}
    return Part("resource", {"type": "resource", "resource": resource})


def data_url_part(url: str, place: str, name: str = "") -> Part:
    """The part of a data URL. Raises ``RequestFault`` for any other: nothing is fetched for a client."""
    found = _DATA_URL.fullmatch(url)
    if found is None:
        raise RequestFault(
            f"{place} must be a data URL with base64 (data:image/png;base64,…): nothing is fetched from "
            "other addresses here",
            param=place,
            code="unsupported_url",
        )
    return media_part(found[1] or "application/octet-stream", found[2], place, name)
