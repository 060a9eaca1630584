"""``text``: a text written in the config."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import override

from ...parts.resource import ResourceContent
from ...schema.keys import DATA
from ...schema.records import key


class Config(ResourceContent):
    """Content written in the config."""

    order = 10
    text: str | None = key("The content: a text.", default=None, served=True, inert=DATA)

    @classmethod
    @override
    def live(cls, entry: Any, base: Path) -> Any:
        from .._content import TEXT
        from .._entries import Literal

        return Literal(entry, {"mimeType": entry.mime_type or TEXT, "text": entry.text})
