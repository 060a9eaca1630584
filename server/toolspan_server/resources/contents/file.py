"""``file``: a file, read on request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import override

from ...parts.resource import ResourceContent
from ...schema.keys import FILE_INSIDE
from ...schema.paths import RelativePath
from ...schema.records import key


class Config(ResourceContent):
    """Content in a file; its name is the resource's default name."""

    order = 40
    file: RelativePath | None = key(
        "The file with the content, relative to the config's folder.", default=None, inert=FILE_INSIDE
    )

    @classmethod
    @override
    def check_entry(cls, entry: Any) -> None:
        entry.check_path("file", entry.file)

    @classmethod
    @override
    def live(cls, entry: Any, base: Path) -> Any:
        from .._entries import FileResource

        return FileResource.of(entry, base, entry.file)
