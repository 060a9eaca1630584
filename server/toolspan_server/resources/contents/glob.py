"""``glob``: every file that matches a glob, one resource each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import override

from ...parts.resource import ResourceContent
from ...problems import Fault, Faulty
from ...schema.keys import DATA, FILE_INSIDE
from ...schema.paths import RelativePath
from ...schema.records import key


class Config(ResourceContent):
    """Content in files, whose paths are part of the URIs."""

    order = 50
    many = True
    only_here = {"exclude": "only a glob excludes files"}  # noqa: RUF012  # as the base class declares it
    glob: RelativePath | None = key(
        "The files, one resource each: a glob relative to the config's folder; ** matches any number "
        "of folders.",
        default=None,
        inert=FILE_INSIDE,
    )
    exclude: tuple[RelativePath, ...] = key(
        "The files to leave out: globs relative to the folder before the first wildcard of glob.",
        default=(),
        inert=DATA,
    )

    @classmethod
    @override
    def check_entry(cls, entry: Any) -> None:
        if entry.uri.count("{path}") != 1 or "{" in entry.uri.replace("{path}", ""):
            hint = "write {path} once where the file's path belongs, as in docs:///{path}"
            raise Faulty(Fault(("uri",), f"{entry.uri!r} does not distinguish the files of the glob", hint))
        for name in ("name", "title"):
            if getattr(entry, name) is not None:
                message = f"the files of a glob would all have one {name}"
                raise Faulty(Fault((name,), message, "remove it: each has its path as its name", on_key=True))
        entry.check_path("glob", entry.glob)

    @classmethod
    @override
    def live(cls, entry: Any, base: Path) -> Any:
        from .._entries import GlobResource

        return GlobResource.of(entry, base, entry.glob, entry.exclude)
