"""A file of a user's state: a list of objects, changed by one process at a time.

{MARK: 1, KEY: [{…}, …]}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ..errors import StoreError
from ..files.replacement import replace_file, why_locked, why_not_written

_MAX_BYTES = 16 * 1024 * 1024
_LOCK_SECONDS = 10


class StateFile:
    """The list under ``key`` in the file ``path``, which ``mark`` tells from others. ``about`` names it for
    people.

    Raises ``StoreError`` when the file cannot be read or written: nothing in it is lost.
    """

    def __init__(self, path: Path, mark: str, key: str, about: str) -> None:
        self._path = path
        self._mark = mark
        self._key = key
        self._about = about

    def read(self) -> list[dict[str, Any]]:
        """The objects; none where there is no file."""
        try:
            with self._path.open("rb") as file:
                data = file.read(_MAX_BYTES + 1)
            whole: Any = json.loads(data) if len(data) <= _MAX_BYTES else None
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:
            raise self._unusable(f"cannot be read: {error}") from None
        if not isinstance(whole, dict) or cast("dict[str, Any]", whole).get(self._mark) != 1:
            raise self._unusable("holds something else")
        entries: Any = cast("dict[str, Any]", whole).get(self._key)
        return [each for each in cast("list[Any]", entries or []) if isinstance(each, dict)]

    def change(self, changed: Callable[[list[dict[str, Any]]], Sequence[Mapping[str, Any]]]) -> None:
        """Put what ``changed`` makes of the objects in their place."""
        from filelock import FileLock, Timeout

        try:
            with FileLock(self._path.with_suffix(".lock"), timeout=_LOCK_SECONDS):
                whole = {self._mark: 1, self._key: list(changed(self.read()))}
                replace_file(self._path, json.dumps(whole, indent=1).encode())
        except Timeout:
            raise self._error(why_locked(_LOCK_SECONDS)) from None
        except OSError as error:
            raise self._error(why_not_written(error)) from None

    def _unusable(self, why: str) -> StoreError:
        return self._error(f"{why} (correct or remove it)")

    def _error(self, why: str) -> StoreError:
        return StoreError(f"{self._about} in {self._path}: the file {why}")
