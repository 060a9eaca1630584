"""``blob``: bytes written in the config."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import override

from ...parts.resource import ResourceContent
from ...schema.base64_text import Base64
from ...schema.keys import DATA
from ...schema.records import key


class Config(ResourceContent):
    """Content written in the config."""

    order = 20
    blob: Base64 | None = key("The content: bytes in Base64.", default=None, served=True, inert=DATA)

    @classmethod
    @override
    def live(cls, entry: Any, base: Path) -> Any:
        from .._content import BYTES
        from .._entries import Literal

        return Literal(entry, {"mimeType": entry.mime_type or BYTES, "blob": entry.blob})
