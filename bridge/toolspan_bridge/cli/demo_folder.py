"""The folder of ``toolspan demo``: the example's files, which a person may edit."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, cast

from toolspan_server.common.regular_files import read_regular
from toolspan_server.common.state.folder import STATE_FOLDER, private_folder, why_not_ours
from toolspan_server.common.state.private_files import read_private, write_private

from ..errors import UsageError
from ..files.replacement import place_within, replace_file

CONFIG = "toolspan.yaml"
_MOST_BYTES = 16 * 1024 * 1024
_WRITTEN = Path(STATE_FOLDER) / "demo.json"
"""The SHA-256 of each file as it was written, by its path in the folder."""


class DemoFolder:
    """The example's files in the folder ``place``."""

    def __init__(self, place: Path) -> None:
        self.place = place
        with as_file(files("toolspan_bridge") / "demo") as example:
            self._example = {
                path.relative_to(example).as_posix(): path.read_bytes()
                for path in sorted(example.rglob("*"))
                if path.is_file()
            }

    @property
    def config(self) -> Path:
        """The example's config."""
        return self.place / CONFIG

    def edited(self) -> list[str]:
        """The files of the example that differ there from what was written. Raises ``UsageError``."""
        try:
            self._check()
            written = self._written()
            return [
                name for name, content in self._example.items() if self._is_edited(name, content, written)
            ]
        except OSError as error:
            raise self._unusable(error) from None

    def write(self) -> None:
        """Write the files that are not there, or not those of this version. Raises ``UsageError``."""
        try:
            self._check()
            for name, content in self._example.items():
                path = place_within(self.place, Path(name))
                path.parent.mkdir(parents=True, exist_ok=True)
                if not path.exists() or read_regular(path, _MOST_BYTES) != content:
                    replace_file(path, content, mode=0o644)
            hashes = {name: _hash(content) for name, content in self._example.items()}
            state = self.place.resolve() / _WRITTEN
            private_folder(state.parent)
            write_private(state, json.dumps(hashes, indent=2).encode())
        except OSError as error:
            raise self._unusable(error) from None

    def _check(self) -> None:
        """Raise ``OSError`` where a link leads out of the folder, or the folder itself out of this one."""
        here = Path.cwd()
        if Path(os.path.normpath(here / self.place)).is_relative_to(here):
            place_within(here, self.place)
        for name in self._example:
            place_within(self.place, Path(name))

    def free_neighbour(self) -> Path:
        """The first of ``NAME-2``, ``NAME-3`` … beside the folder that does not exist."""
        return next(path for path in self._neighbours() if not os.path.lexists(path))

    def _neighbours(self) -> Iterator[Path]:
        number = 2
        while True:
            yield self.place.with_name(f"{self.place.name}-{number}")
            number += 1

    def _is_edited(self, name: str, content: bytes, written: dict[str, str]) -> bool:
        path = self.place / name
        if not path.exists():
            return False
        found = read_regular(path, _MOST_BYTES)
        return found != content and _hash(found) != written.get(name)

    def _written(self) -> dict[str, str]:
        try:
            state = self.place.resolve() / _WRITTEN
            known: Any = {} if why_not_ours(state.parent) else json.loads(read_private(state))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return {}  # without the hashes, every difference counts as an edit
        return cast("dict[str, str]", known) if isinstance(known, dict) else {}

    def _unusable(self, error: OSError) -> UsageError:
        where = error.filename or self.place
        return UsageError(f"{where} cannot be used: {error.strerror} (name another folder with --dir)")


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()
