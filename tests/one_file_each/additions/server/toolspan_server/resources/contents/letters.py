"""``letters``: the first letters of the alphabet."""

from __future__ import annotations

from pathlib import Path
from string import ascii_lowercase
from typing import Any

from typing_extensions import override

from ...parts.resource import ResourceContent
from ...schema.records import key


class Config(ResourceContent):
    """Content that is made of a number."""

    order = 60
    letters: int | None = key("The content: so many letters.", least=1, most=26, default=None)

    @classmethod
    @override
    def live(cls, entry: Any, base: Path) -> Any:
        from .._entries import Literal

        return Literal(entry, {"mimeType": "text/plain", "text": ascii_lowercase[: entry.letters]})
