"""What a person allowed a folder to run and to send, in the user's state folder.

    {"toolspan_trust": 1, "folders": [
        {"folder", "at", "items": [{"file", "place", "what", "contents": {NAME: SHA-256}}]}]}

Each item is known by all that it consists of: another command, address, variable or content of a file is
another item. Only hashes are kept of what is not shown. ``at`` is the time of the last answer, in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolspan_server.config import UntrustedItem

from ..files.state_file import StateFile

TRUST_FILE = "trust.json"
_MAX_FOLDERS = 1_000


@dataclass(frozen=True, slots=True)
class TrustedFolder:
    """A folder, the ``items`` in it that were allowed, each ``{"file", "place", "what", "contents"}``, and
    when (``at``, ISO 8601)."""

    folder: str
    at: str
    items: tuple[Mapping[str, Any], ...]

    def as_dict(self) -> dict[str, Any]:
        """``{"folder", "at", "items": [{"file", "place", "what"}]}``."""
        items = [{key: item.get(key) for key in ("file", "place", "what")} for item in self.items]
        return {"folder": self.folder, "at": self.at, "items": items}


@dataclass(frozen=True, slots=True)
class Untrusted:
    """An item that was not allowed as it is. ``before`` is what was allowed in its place, ``changed`` the
    names of its parts that are others than then; both empty for one that is new."""

    item: UntrustedItem
    before: tuple[str, ...] = ()
    changed: tuple[str, ...] = field(default=())


class TrustedFolders:
    """The folders in the file ``path``. Raises ``StoreError`` when it cannot be read or written."""

    def __init__(self, path: Path) -> None:
        self._file = StateFile(path, "toolspan_trust", "folders", "the folders that you trust")

    def all(self) -> list[TrustedFolder]:
        """Every folder, by name."""
        found = [
            TrustedFolder(str(each.get("folder")), str(each.get("at", "")), tuple(each.get("items") or ()))
            for each in self._file.read()
        ]
        return sorted(found, key=lambda each: each.folder)

    def untrusted(self, folder: Path, items: Sequence[UntrustedItem]) -> list[Untrusted]:
        """Those of ``items`` that were not allowed in ``folder``."""
        name = _name(folder)
        known = next((each.items for each in self.all() if each.folder == name), ())
        wanted = [_entry(item) for item in items]
        gone = [each for each in known if each not in wanted]
        return [
            _compared(item, entry, gone)
            for item, entry in zip(items, wanted, strict=True)
            if entry not in known
        ]

    def trust(self, folder: Path, items: Iterable[UntrustedItem]) -> None:
        """Remember that ``items`` were allowed in ``folder``, in place of what was at their places before."""
        name, added = _name(folder), [_entry(item) for item in items]
        places = {(each["file"], each["place"]) for each in added}

        def changed(known: list[dict[str, Any]]) -> Sequence[Mapping[str, Any]]:
            own = next((each.get("items") or () for each in known if each.get("folder") == name), ())
            kept = [each for each in own if (each["file"], each["place"]) not in places]
            others = [each for each in known if each.get("folder") != name]
            now = datetime.now(UTC).isoformat(timespec="seconds")
            return [*others, {"folder": name, "at": now, "items": [*kept, *added]}][-_MAX_FOLDERS:]

        self._file.change(changed)

    def forget(self, folder: Path | None) -> int:
        """Take back what was allowed in ``folder``, or in all of them; how many folders that were."""
        name = None if folder is None else _name(folder)
        forgotten: list[dict[str, Any]] = []

        def changed(known: list[dict[str, Any]]) -> Sequence[Mapping[str, Any]]:
            forgotten.extend(each for each in known if name in (None, each.get("folder")))
            return [*(each for each in known if each not in forgotten)]

        self._file.change(changed)
        return len(forgotten)


def _name(folder: Path) -> str:
    return str(folder.resolve())


def _entry(item: UntrustedItem) -> dict[str, Any]:
    return {
        "file": str(item.file),
        "place": item.place,
        "what": item.what,
        "contents": dict(item.contents),
    }


def _compared(item: UntrustedItem, entry: Mapping[str, Any], gone: Sequence[Mapping[str, Any]]) -> Untrusted:
    """``item`` beside what was allowed at its place and is there no more."""
    there = [each for each in gone if (each.get("file"), each.get("place")) == (entry["file"], item.place)]
    if not there:
        return Untrusted(item)
    same = [each for each in there if each.get("what") == item.what]
    before: Mapping[str, str] = (same or there)[0].get("contents") or {}
    names = sorted({*before, *item.contents})
    changed = tuple(name for name in names if before.get(name) != item.contents.get(name))
    return Untrusted(item, () if same else tuple(str(each.get("what")) for each in there), changed)
