"""``json``: any value, served as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import override

from ...parts.resource import ResourceContent
from ...schema.keys import DATA
from ...schema.records import key


class Config(ResourceContent):
    """Content written in the config."""

    order = 30
    json: Any = key("The content: any value, served as JSON.", default=None, served=True, inert=DATA)

    @classmethod
    @override
    def live(cls, entry: Any, base: Path) -> Any:
        from .._content import JSON, as_json
        from .._entries import Literal

        return Literal(entry, {"mimeType": entry.mime_type or JSON, "text": as_json(entry.json)})
