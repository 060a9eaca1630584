"""Bytes as resource content: their media type, and whether they are text."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any

TEXT, JSON, BYTES = "text/plain", "application/json", "application/octet-stream"

_OURS = {
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".rst": "text/x-rst",
    ".sql": "application/sql",
    ".toml": "application/toml",
    ".ts": "text/typescript",
    ".wasm": "application/wasm",
    ".webp": "image/webp",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
_TEXTUAL = ("json", "xml", "yaml", "toml", "sql", "javascript", "typescript", "x-sh", "graphql", "csv")


def media_type_of(name: str) -> str | None:
    """The media type for the file ending of ``name``, the same on every machine."""
    suffix = PurePosixPath(name).suffix.lower()
    return _OURS.get(suffix) or _known().get(suffix)


@cache
def _known() -> Mapping[str, str]:
    """Python's own table, without the machine's additions."""
    from mimetypes import MimeTypes

    return MimeTypes().types_map[True]


def is_textual(media_type: str) -> bool:
    """Whether content of ``media_type`` is text, provided that it can be decoded."""
    kind, _, subtype = media_type.partition(";")[0].strip().lower().partition("/")
    return kind == "text" or subtype.rpartition("+")[2].removeprefix("x-") in _TEXTUAL or subtype in _TEXTUAL


def content(uri: str, media_type: str | None, data: bytes) -> dict[str, Any]:
    """``data`` in MCP's form: ``text`` when it is UTF-8 and of a textual type, else ``blob``.

    Of unknown type, text is ``text/plain`` and anything else ``application/octet-stream``.
    """
    if media_type is None or is_textual(media_type):
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = "\0"
        if "\0" not in text:
            return {"uri": uri, "mimeType": media_type or TEXT, "text": text}
    return {"uri": uri, "mimeType": media_type or BYTES, "blob": base64.b64encode(data).decode()}


def as_json(value: Any) -> str:
    """``value`` as the text of a JSON resource."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
