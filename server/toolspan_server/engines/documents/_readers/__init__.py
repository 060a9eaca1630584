"""Readers: bytes of a file in, a ``Document`` out. One file a format."""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath
from threading import Event
from typing import Protocol, cast

from .._document import Document

TEXT_BYTES = 2 * 1024 * 1024
PDF_BYTES = 20 * 1024 * 1024

_MODULES = {
    ".md": "_markdown",
    ".markdown": "_markdown",
    ".html": "_html",
    ".htm": "_html",
    ".xhtml": "_html",
    ".rst": "_rst",
    ".pdf": "_pdf",
}


class _Reader(Protocol):
    def __call__(self, data: bytes, stop: Event) -> Document: ...


def size_limit(name: str) -> int:
    """The most bytes that a file called ``name`` may have."""
    return PDF_BYTES if _suffix(name) == ".pdf" else TEXT_BYTES


def read_document(name: str, data: bytes, stop: Event) -> Document:
    """What ``data``, the content of a file called ``name``, says. Unknown suffixes are plain text.

    Raises ``Unreadable``, also when ``stop`` is set before a long reading has ended.
    """
    module = import_module(f"{__name__}.{_MODULES.get(_suffix(name), '_plain')}")
    return cast("_Reader", module.read)(data, stop)


def _suffix(name: str) -> str:
    return PurePath(name).suffix.lower()
