"""Images from files, as parts of a question."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from ...errors import UsageError
from ...formats.shared.conversation.media import IMAGES, media_type
from ...messages import Part

MAX_IMAGES = 20
MAX_IMAGE_BYTES = 20 * 1024 * 1024


def read_images(paths: Sequence[str]) -> tuple[Part, ...]:
    """An MCP image block for each file, typed by its first bytes. Raises ``UsageError``."""
    if len(paths) > MAX_IMAGES:
        raise UsageError(f"{len(paths)} images are too many: at most {MAX_IMAGES} go with a question")
    return tuple(_image(Path(path)) for path in paths)


def _image(path: Path) -> Part:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_IMAGE_BYTES + 1)
    except OSError as fault:
        raise UsageError(f"the image {path} cannot be read: {fault.strerror}") from None
    if len(data) > MAX_IMAGE_BYTES:
        raise UsageError(f"the image {path} is larger than {MAX_IMAGE_BYTES:,} bytes: make it smaller")
    mime = media_type(data[:64])
    if mime not in IMAGES:
        raise UsageError(f"{path} is no PNG, JPEG, GIF or WebP image: models take no other")
    encoded = base64.b64encode(data).decode("ascii")
    return Part("image", {"type": "image", "data": encoded, "mimeType": mime})
