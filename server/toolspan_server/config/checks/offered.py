"""Checks that resources, resource templates and prompts of all files are unique."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from ...problems import Fault, Path
from ..config_file import ConfigFile

_LISTS = (
    ("resource", "resources", ("uri",)),
    ("resource template", "resource_templates", ("uri_template", "uriTemplate")),
    ("prompt", "prompts", ("name",)),
)


def unique_offers(sources: Sequence[ConfigFile]) -> None:
    """Add faults for duplicates to ``sources``."""
    seen: dict[tuple[str, str], tuple[ConfigFile, Path]] = {}
    for source in sources:
        for sort, name, path in _offers(source.data):
            first, there = seen.setdefault((sort, name), (source, path))
            if first is not source or there != path:
                message = f"{sort} {name!r} is already defined at {first.document.place(there)}"
                source.add([Fault(path, message, "keep one of them")])


def _offers(data: Any) -> Iterator[tuple[str, str, Path]]:
    """Each as (type, name, place)."""
    whole = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    for sort, member, keys in _LISTS:
        listed = whole.get(member)
        for index, entry in enumerate(cast("Sequence[Any]", listed) if isinstance(listed, list) else ()):
            given = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
            for each in keys:
                if isinstance(given.get(each), str):
                    yield sort, str(given[each]), (member, index, each)
