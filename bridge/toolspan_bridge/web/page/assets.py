"""The files of the page, read once: each with its media type, a tag of its content, and itself compressed."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("static")
INDEX = "index.html"

_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """One file. ``tag`` is its entity tag, with the quotation marks that HTTP wants."""

    media_type: str
    content: bytes
    compressed: bytes
    tag: str


def assets(folder: Path = FOLDER) -> Mapping[str, Asset]:
    """Every file of the page by its path in ``folder``, with ``/`` between its parts."""
    return {
        path.relative_to(folder).as_posix(): _asset(path)
        for path in sorted(folder.rglob("*"))
        if path.suffix in _MEDIA_TYPES
    }


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    return Asset(
        _MEDIA_TYPES[path.suffix],
        content,
        gzip.compress(content, mtime=0),
        f'"{hashlib.sha256(content).hexdigest()[:32]}"',
    )
