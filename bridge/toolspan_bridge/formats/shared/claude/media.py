"""How many images and documents fit into a request to Claude.

Source: platform.claude.com, "Vision" and "PDF support", read in November 2026. With more than 20 images in a
request, none may be wider or higher than 2000 pixels; the request as a whole has a size.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from typing_extensions import override

from ..conversation.image_size import image_size
from ..conversation.results import MediaQuota

__all__ = ["ANTHROPIC_ROOM", "BEDROCK_ROOM", "MediaSent", "Room"]

_OF_ANY_SIZE = 20
_MAX_SIDE = 2000


@dataclass(frozen=True, slots=True)
class Room:
    """What of files fits into one request: images, documents, and the characters of base64 of both."""

    images: int
    documents: int
    size: int


ANTHROPIC_ROOM = Room(images=100, documents=20, size=24_000_000)
"""The API takes requests of 32 MB; the text needs its share."""
BEDROCK_ROOM = Room(images=20, documents=5, size=14_000_000)
"""InvokeModel takes requests of 20 MB. The counts are Converse's: InvokeModel states none."""


class MediaSent(MediaQuota):
    """Counts the files of a conversation from its beginning.

    Whether a file is sent depends on those before it only: so it is the same in every later request.
    """

    def __init__(self, room: Room) -> None:
        super().__init__({"image/": room.images, "application/pdf": room.documents})
        self._size = room.size
        self._images = 0
        self._all_small = True

    @override
    def take(self, mime: str, data: str = "") -> bool:
        """Whether the file of base64 ``data`` still fits, as the next one of the conversation."""
        if len(data) > self._size:
            return False
        if mime.startswith("image/"):
            small = _is_small(data)
            if self._images >= _OF_ANY_SIZE and not (small and self._all_small):
                return False
            if not super().take(mime):
                return False
            self._images += 1
            self._all_small = self._all_small and small
        elif not super().take(mime):
            return False
        self._size -= len(data)
        return True


def _is_small(data: str) -> bool:
    size = image_size(base64.b64decode(data))
    return size is not None and max(size) <= _MAX_SIDE
