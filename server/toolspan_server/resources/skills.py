"""Skills: folders with a ``SKILL.md``, listed with all their files (SEP-2640).

A skill's name is its folder's, and the ``name`` of the frontmatter at the start of ``SKILL.md``. A folder
that breaks these rules is left out, and the log says why.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, unquote

from ..engines.documents._globs import Selection
from ._content import content, media_type_of
from ._entries import Stamped
from ._folder import FileEntry, Folder
from .errors import ResourceNotFound, ResourceUnreadable

SCHEME = "skill://"
MANIFEST = "SKILL.md"
MOST_FILES, MOST_BYTES = 512, 16 * 1024 * 1024
"""Of one skill."""

_NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z")
_FRONTMATTER = re.compile(r"\ufeff?---\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)

_log = logging.getLogger(__name__)
_State = tuple[tuple[str, tuple[int, ...]], ...]


class _Unfit(Exception):
    """A folder is not a valid skill; the message says why."""


@dataclass
class Skills:
    """The skills below ``folder``, an entry of the resources."""

    folder: Folder
    limit: int
    _known: dict[str, tuple[_State, dict[str, Any] | None]] = field(
        default_factory=dict[str, "tuple[_State, dict[str, Any] | None]"]
    )

    @classmethod
    def of(cls, path: str, base: Path, limit: int) -> Skills:
        """The skills below ``base / path``, with files of at most ``limit`` bytes."""
        return cls(Folder(SCHEME, base, path, Selection(["**/*"])), limit)

    def entries(self) -> list[dict[str, Any]]:
        """The entries of ``skills/list``: ``uri``, ``frontmatter``, ``resources`` (the files)."""
        found = {path: self._entry(path, files) for path, files in self._folders().items()}
        return [entry for entry in found.values() if entry is not None]

    def children(self, uri: str) -> list[dict[str, Any]] | None:
        """The files and folders in the folder ``uri`` of a skill; ``None`` when there is no such folder."""
        path = self._path(uri.rstrip("/"))
        files = [entry for each in self._own() for entry in each[1]]
        if path is None or not any(entry.path.startswith(f"{path}/") for entry in files):
            return None
        inside = [entry for entry in files if entry.path.startswith(f"{path}/")]
        listed: dict[str, dict[str, Any]] = {}
        for entry in inside:
            name, below, _ = entry.path[len(path) + 1 :].partition("/")
            child = _uri(f"{path}/{name}")
            if below:
                listed[child] = {"uri": child, "name": name, "mimeType": "inode/directory"}
            else:
                listed[child] = _file(child, name, entry)
        return list(listed.values())

    def listed(self) -> Iterator[dict[str, Any]]:
        for entry, files in self._own():
            fields = entry["frontmatter"]
            for file in files:
                uri = _uri(file.path)
                if uri == entry["uri"]:
                    yield {**_file(uri, fields["name"], file), "description": fields["description"]}
                else:
                    yield _file(uri, file.path, file)

    def stamps(self) -> Iterator[Stamped]:
        for _, files in self._own():
            yield from ((_uri(file.path), file.stamp) for file in files)

    def has(self, uri: str) -> bool:
        path = self._path(uri)
        return path is not None and self.folder.has(path)

    def read(self, uri: str, limit: int) -> dict[str, Any]:
        path = self._path(uri)
        if path is None or all(file.path != path for _, files in self._own() for file in files):
            raise ResourceNotFound(uri)
        return content(uri, media_type_of(path), self.folder.read(path, uri, limit))

    def _own(self) -> Iterator[tuple[dict[str, Any], Sequence[FileEntry]]]:
        """Each skill, with its files."""
        for path, files in self._folders().items():
            entry = self._entry(path, files)
            if entry is not None:
                yield entry, files

    def _folders(self) -> dict[str, list[FileEntry]]:
        """The folders with a manifest, and their files; nested folders with one belong to the outer skill."""
        files = list(self.folder.entries())
        roots: list[str] = []
        for root in sorted(file.path.removesuffix(f"/{MANIFEST}") for file in files if _is_manifest(file)):
            if not any(root.startswith(f"{each}/") for each in roots):
                roots.append(root)
        self._known = {root: self._known[root] for root in roots if root in self._known}
        return {root: [file for file in files if file.path.startswith(f"{root}/")] for root in roots}

    def _entry(self, path: str, files: Sequence[FileEntry]) -> dict[str, Any] | None:
        """The entry of the skill at ``path``; read again only when a file has changed."""
        state = tuple((file.path, file.stamp) for file in files)
        known = self._known.get(path)
        if known is None or known[0] != state:
            try:
                known = (state, self._made(path, files))
            except (_Unfit, ResourceNotFound, ResourceUnreadable) as reason:
                _log.warning("the skill %r is left out: %s", path, reason)
                known = (state, None)
            self._known[path] = known
        return known[1]

    def _made(self, path: str, files: Sequence[FileEntry]) -> dict[str, Any]:
        if len(files) > MOST_FILES or sum(file.size for file in files) > MOST_BYTES:
            raise _Unfit(f"it has more than {MOST_FILES} files or {MOST_BYTES // 1024**2} MiB")
        data = {file.path: self.folder.read(file.path, _uri(file.path), self.limit) for file in files}
        frontmatter = _frontmatter(data[f"{path}/{MANIFEST}"])
        if frontmatter["name"] != path.rpartition("/")[2] or not _NAME.match(frontmatter["name"]):
            raise _Unfit(
                f"its name {frontmatter['name']!r} must be its folder's, in lower case with single hyphens"
            )
        resources = [
            {"uri": _uri(name), "digest": f"sha256:{hashlib.sha256(each).hexdigest()}", "size": len(each)}
            for name, each in data.items()
        ]
        return {"uri": _uri(f"{path}/{MANIFEST}"), "frontmatter": frontmatter, "resources": resources}

    def _path(self, uri: str) -> str | None:
        path = unquote(uri.removeprefix(SCHEME), errors="replace")
        return path if uri.startswith(SCHEME) and _uri(path) == uri else None


def _frontmatter(data: bytes) -> dict[str, Any]:
    """The frontmatter of a manifest, as JSON. Raises ``_Unfit``."""
    from ..schema.syntax_trees import SyntaxFault
    from ..schema.yaml_text import read_yaml

    found = _FRONTMATTER.match(data.decode("utf-8", "replace"))
    if found is None:
        raise _Unfit(f"{MANIFEST} does not start with frontmatter between two lines of ---")
    try:
        fields, _, faults = read_yaml(found[1])
    except SyntaxFault as fault:
        raise _Unfit(f"its frontmatter: {fault.message}") from None
    if faults or not isinstance(fields, dict):
        raise _Unfit("its frontmatter is no object that JSON can hold")
    frontmatter = cast("dict[str, Any]", fields)
    for name in ("name", "description"):
        if not isinstance(frontmatter.get(name), str) or not frontmatter[name]:
            raise _Unfit(f"its frontmatter has no {name}")
    return frontmatter


def _is_manifest(file: FileEntry) -> bool:
    return file.path.endswith(f"/{MANIFEST}")


def _file(uri: str, name: str, file: FileEntry) -> dict[str, Any]:
    known = {"uri": uri, "name": name, "mimeType": media_type_of(file.path), "size": file.size}
    return {member: value for member, value in known.items() if value is not None}


def _uri(path: str) -> str:
    return SCHEME + quote(path.encode("utf-8", "surrogateescape"), safe="/")
