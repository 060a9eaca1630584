"""The live entries of ``resources``: each lists its resources and reads their content."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, unquote_to_bytes

from ..engines.documents._folder import shown
from ..engines.documents._globs import Selection
from ._content import content, media_type_of
from ._folder import (
    FileEntry,
    Folder,
    OneFile,
    split_glob,
)
from ._metadata import described, hints
from .errors import ResourceNotFound, ResourceUnreadable

if TYPE_CHECKING:
    from ..config.models.resources import ResourceConfig

Stamped = tuple[str, tuple[int, ...]]
"""A URI, and a value that differs whenever the content may have changed."""


class Entry(Protocol):
    """One entry. Its methods may wait for files: they run in worker threads."""

    @property
    def folder(self) -> Folder | None:
        """The folder to watch, if its content is in files."""
        ...

    def listed(self) -> Iterator[dict[str, Any]]:
        """The resources that exist now, in MCP's form."""
        ...

    def stamps(self) -> Iterator[Stamped]:
        """The resources that may change, each with a stamp."""
        ...

    def has(self, uri: str) -> bool:
        """Whether ``uri`` belongs to this entry, whether it exists or not."""
        ...

    def read(self, uri: str, limit: int) -> dict[str, Any]:
        """The content of a resource of this entry, at most ``limit`` bytes.

        Raises ``ResourceNotFound`` or ``ResourceUnreadable``.
        """
        ...


@dataclass(frozen=True)
class Literal:
    """Content written in the config: ``given`` is its MCP form, without the URI."""

    config: ResourceConfig
    given: Mapping[str, Any]
    folder: None = None

    def listed(self) -> Iterator[dict[str, Any]]:
        yield self._described

    @cached_property
    def _described(self) -> dict[str, Any]:
        given = self._content()
        size = len(base64.b64decode(given["blob"])) if "blob" in given else len(given["text"].encode())
        config = self.config
        return described(
            config,
            uri=config.uri,
            name=config.name,
            mimeType=given["mimeType"],
            size=size,
            annotations=hints(config.annotations),
        )

    def stamps(self) -> Iterator[Stamped]:
        return iter(())

    def has(self, uri: str) -> bool:
        return uri == self.config.uri

    def read(self, uri: str, limit: int) -> dict[str, Any]:
        return within(self._content(), limit)

    def _content(self) -> dict[str, Any]:
        return {"uri": self.config.uri, **self.given}


@dataclass(frozen=True, slots=True)
class FileResource:
    """One file."""

    config: ResourceConfig
    file: OneFile
    folder: Folder

    @classmethod
    def of(cls, config: ResourceConfig, base: Path, path: str) -> FileResource:
        """The resource of ``config``, whose ``path`` starts at ``base``."""
        file = OneFile(config.uri, base, path, config.outside)
        return cls(config, file, file.parent)

    def listed(self) -> Iterator[dict[str, Any]]:
        entry = self.file.entry()
        if entry is not None:
            name = self.config.name or Path(self.file.path).name
            yield _of_file(self.config, self.config.uri, name, self.file.path, entry)

    def stamps(self) -> Iterator[Stamped]:
        entry = self.file.entry()
        if entry is not None:
            yield self.config.uri, entry.stamp

    def has(self, uri: str) -> bool:
        return uri == self.config.uri

    def read(self, uri: str, limit: int) -> dict[str, Any]:
        data = self.file.read(uri, limit)
        return content(uri, self.config.mime_type or media_type_of(self.file.path), data)


@dataclass(frozen=True, slots=True)
class GlobResource:
    """Every file that a glob matches; ``before`` and ``after`` surround its path in the URI."""

    config: ResourceConfig
    folder: Folder
    before: str
    after: str

    @classmethod
    def of(cls, config: ResourceConfig, base: Path, glob: str, exclude: Sequence[str]) -> GlobResource:
        """The resources of ``config``, whose ``glob`` starts at ``base``."""
        path, pattern = split_glob(glob)
        recursive = "/" in pattern or "**" in pattern
        selection = Selection([pattern], exclude)
        folder = Folder(config.uri, base, path, selection, config.outside, recursive)
        before, _, after = config.uri.partition("{path}")
        return cls(config, folder, before, after)

    def listed(self) -> Iterator[dict[str, Any]]:
        for entry in self.folder.entries():
            yield _of_file(self.config, self._uri(entry.path), shown(entry.path), entry.path, entry)

    def stamps(self) -> Iterator[Stamped]:
        return ((self._uri(entry.path), entry.stamp) for entry in self.folder.entries())

    def has(self, uri: str) -> bool:
        path = self._path(uri)
        return path is not None and self.folder.has(path)

    def read(self, uri: str, limit: int) -> dict[str, Any]:
        path = self._path(uri)
        if path is None:
            raise ResourceNotFound(uri)
        data = self.folder.read(path, uri, limit)
        return content(uri, self.config.mime_type or media_type_of(path), data)

    def _uri(self, path: str) -> str:
        return self.before + quote(_bytes(path), safe="/") + self.after

    def _path(self, uri: str) -> str | None:
        inside = uri[len(self.before) : len(uri) - len(self.after)]
        if self.before + inside + self.after != uri:
            return None
        return _text(unquote_to_bytes(inside))


def _of_file(config: ResourceConfig, uri: str, name: str, path: str, entry: FileEntry) -> dict[str, Any]:
    return described(
        config,
        uri=uri,
        name=name,
        mimeType=config.mime_type or media_type_of(path),
        size=entry.size,
        annotations=hints(config.annotations, entry),
    )


def within(given: dict[str, Any], limit: int) -> dict[str, Any]:
    """``given``, checked to have at most ``limit`` bytes of content. Raises ``ResourceUnreadable``."""
    size = len(given["blob"]) * 3 // 4 if "blob" in given else len(given["text"].encode("utf-8", "replace"))
    if size > limit:
        raise ResourceUnreadable(
            given["uri"], f"it has {size:,} bytes, more than {limit:,}, the limit of resource_bytes"
        )
    return given


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
