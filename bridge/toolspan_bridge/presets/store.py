"""The presets of one user, in a file of the user's state folder.

    {"presets": [{"id", "name", "instructions", "model", "default_reasoning_level", "created_at",
                  "updated_at", "enabled_tools"}]}

Keys of a record that are not known here are kept as they are.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from toolspan_server.common.file_names import file_name
from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import private_file

from ..errors import StoreError, UsageError
from ..files.replacement import replace_file, why_locked, why_not_written
from ..files.user_state import user_state_directory
from .preset import (
    Preset,
    checked_instructions,
    checked_level,
    checked_model,
    checked_name,
)
from .tools import DEFAULT_TOOLS, checked_tools

FOLDER = "presets"
MOST_PRESETS = 1_000
MOST_BYTES = 16 << 20
"""The largest file of presets that is written."""
_MOST_READ = 64 << 20
_LOCK_SECONDS = 10.0

_Record = dict[str, Any]


class PresetStore:
    """The presets of ``user``, in ``folder`` (by default ``presets`` in this person's state folder).

    Every method raises ``StoreError`` when the file cannot be read or written: it is then as it was, and a
    damaged one is never written over. ``UsageError`` is raised for what a caller got wrong.
    """

    def __init__(self, user: str, folder: Path | None = None) -> None:
        self._folder = folder
        self._name = f"{file_name(user)}.json"

    @property
    def path(self) -> Path:
        """The file, which the first preset makes."""
        try:
            return (self._folder or user_state_directory() / FOLDER) / self._name
        except OSError as error:
            raise StoreError(f"the user's state folder cannot be made: {_reason(error)}") from None

    def all(self) -> tuple[Preset, ...]:
        """Every preset, the oldest first."""
        return tuple(self._preset(record) for record in self._read())

    def get(self, name: str) -> Preset:
        """The preset of that name or id. Raises ``UsageError`` when there is none."""
        return self._preset(self._found(self._read(), name))

    def create(
        self,
        name: str,
        *,
        instructions: str = "",
        model: str = "",
        default_reasoning_level: str = "medium",
        enabled_tools: Iterable[str] = DEFAULT_TOOLS,
        known_tools: Iterable[str] = (),
    ) -> Preset:
        """A new preset. ``known_tools`` are the tools of servers that it may enable beside those built in."""
        tools = checked_tools(enabled_tools, known_tools)
        now = int(time.time())
        preset = Preset(
            secrets.token_hex(8),
            checked_name(name),
            checked_instructions(instructions),
            checked_model(model),
            checked_level(default_reasoning_level),
            now,
            now,
            tools,
        )
        with self._changing() as records:
            self._refuse_taken(records, name)
            if len(records) >= MOST_PRESETS:
                raise UsageError(f"there are {MOST_PRESETS:,} presets already: delete one first")
            records.append(preset.as_dict())
        return preset

    def update(
        self,
        name: str,
        *,
        new_name: str | None = None,
        instructions: str | None = None,
        model: str | None = None,
        default_reasoning_level: str | None = None,
        enabled_tools: Iterable[str] | None = None,
        known_tools: Iterable[str] = (),
    ) -> Preset:
        """Change what is given of the preset of that name or id, and return it."""
        given: dict[str, tuple[Any, Callable[[Any], Any]]] = {
            "name": (new_name, checked_name),
            "instructions": (instructions, checked_instructions),
            "model": (model, checked_model),
            "default_reasoning_level": (default_reasoning_level, checked_level),
            "enabled_tools": (enabled_tools, lambda names: list(checked_tools(names, known_tools))),
        }
        changes = {key: check(value) for key, (value, check) in given.items() if value is not None}
        with self._changing() as records:
            record = self._found(records, name)
            if new_name is not None:
                self._refuse_taken([each for each in records if each is not record], new_name)
            if "enabled_tools" not in record:
                record["enabled_tools"] = list(DEFAULT_TOOLS)
            record.update(changes, updated_at=int(time.time()))
            return self._preset(record)

    def delete(self, name: str) -> Preset:
        """Remove the preset of that name or id; returns what it was."""
        with self._changing() as records:
            record = self._found(records, name)
            records.remove(record)
        return self._preset(record)

    def _found(self, records: Iterable[_Record], name: str) -> _Record:
        known = [*records]
        found = [each for each in known if each.get("id") == name]
        found = found or [each for each in known if each.get("name") == name]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(str(each.get("id")) for each in found)
            raise UsageError(f"several presets are named {name!r}: use the id, one of {ids}")
        there = ", ".join(repr(each.get("name")) for each in known[:20]) or "none"
        raise UsageError(f"there is no preset {name!r} (presets: {there})")

    def _refuse_taken(self, records: Iterable[_Record], name: str) -> None:
        if any(name in (each.get("name"), each.get("id")) for each in records):
            raise UsageError(f"there is a preset {name!r} already: choose another name, or update that one")

    def _preset(self, record: _Record) -> Preset:
        try:
            return Preset.from_dict(record)
        except UsageError as error:
            raise self._unusable(f"holds a preset with a fault: {error}") from None

    @contextmanager
    def _changing(self) -> Generator[list[_Record]]:
        """The records, which are written when the block ends well. Other processes wait meanwhile."""
        from filelock import FileLock, Timeout

        path = self.path
        try:
            private_folder(path.parent)
            with FileLock(private_file(path.with_suffix(".lock")), timeout=_LOCK_SECONDS, mode=0o600):
                records = self._read()
                yield records
                text = json.dumps({"presets": records}, ensure_ascii=False, indent=1)
                self._write(path, text.encode("utf-8", "surrogatepass"))
        except Timeout:
            raise self._error(why_locked(_LOCK_SECONDS)) from None
        except OSError as error:
            raise self._error(why_not_written(error)) from None

    def _write(self, path: Path, data: bytes) -> None:
        """Raises ``UsageError`` where presets would take more than before, and more than they may."""
        if len(data) > MOST_BYTES and not (path.exists() and len(data) <= path.stat().st_size):
            raise UsageError(
                f"the presets would take {len(data):,} bytes, and may take {MOST_BYTES:,}: delete some first"
            )
        replace_file(path, data)

    def _read(self) -> list[_Record]:
        try:
            with self.path.open("rb") as file:
                data = file.read(_MOST_READ + 1)
            whole: Any = json.loads(data.decode("utf-8", "surrogatepass")) if len(data) <= _MOST_READ else 0
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unusable(f"cannot be read: {_reason(error)}") from None
        except (ValueError, RecursionError) as error:
            raise self._unusable(f"is no JSON: {error}") from None
        records: Any = cast("dict[str, Any]", whole).get("presets") if isinstance(whole, dict) else None
        if not isinstance(records, list):
            raise self._unusable('has no "presets"')
        found: list[Any] = cast("Any", records)
        if not all(isinstance(each, dict) for each in found):
            raise self._unusable("holds a preset that is no object")
        return found

    def _unusable(self, why: str) -> StoreError:
        return self._error(f"{why} (correct or remove it)")

    def _error(self, why: str) -> StoreError:
        return StoreError(f"the presets in {self.path}: the file {why}")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
