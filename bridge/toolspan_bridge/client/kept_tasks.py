"""Calls that run on at their servers as tasks, kept in a file so that a restarted bridge takes them up again.

    {"toolspan_tasks": 1, "tasks": [{"call", "task", "until"}]}

``call`` is a hash of the server's address, the conversation, the tool and its arguments; ``until`` is when
the task is over in any case, in seconds since 1970.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from ..errors import StoreError
from ..files.replacement import replace_file, why_locked, why_not_written

FILE = "tasks.json"
_MARK = "toolspan_tasks"
_MOST = 200
_MAX_BYTES = 1024 * 1024
_LOCK_SECONDS = 10


class KeptTasks:
    """The tasks in the file ``path``. Raises ``StoreError`` when it cannot be read or written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def find(self, call: str) -> str | None:
        """The id of the task that ``call`` runs as, if it does."""
        found = [each for each in self._read() if each.get("call") == call]
        return str(found[-1]["task"]) if found else None

    def keep(self, call: str, task: str, seconds: float) -> None:
        """Keep that ``call`` runs as ``task``, for ``seconds`` at most."""
        self._replace(call, {"call": call, "task": task, "until": time.time() + seconds})

    def forget(self, call: str) -> None:
        """The task of ``call`` is over."""
        self._replace(call, None)

    def _read(self) -> list[dict[str, Any]]:
        try:
            with self._path.open("rb") as file:
                data = file.read(_MAX_BYTES + 1)
            whole: Any = json.loads(data) if len(data) <= _MAX_BYTES else None
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:
            raise self._unusable(f"cannot be read: {error}") from None
        if not isinstance(whole, dict) or cast("dict[str, Any]", whole).get(_MARK) != 1:
            raise self._unusable("holds something else")
        listed: Any = cast("dict[str, Any]", whole).get("tasks")
        entries: list[Any] = cast("Any", listed) if isinstance(listed, list) else []
        tasks = [cast("dict[str, Any]", each) for each in entries if isinstance(each, dict)]
        return [
            each for each in tasks if isinstance(each.get("until"), float) and each["until"] > time.time()
        ]

    def _replace(self, call: str, entry: Mapping[str, Any] | None) -> None:
        from filelock import FileLock, Timeout

        try:
            with FileLock(self._path.with_suffix(".lock"), timeout=_LOCK_SECONDS):
                tasks: list[Mapping[str, Any]] = [each for each in self._read() if each.get("call") != call]
                tasks += [] if entry is None else [entry]
                replace_file(self._path, json.dumps({_MARK: 1, "tasks": tasks[-_MOST:]}).encode())
        except Timeout:
            raise self._error(why_locked(_LOCK_SECONDS)) from None
        except OSError as error:
            raise self._error(why_not_written(error)) from None

    def _unusable(self, why: str) -> StoreError:
        return self._error(f"{why} (correct or remove it)")

    def _error(self, why: str) -> StoreError:
        return StoreError(f"the calls that run as tasks, in {self._path}: the file {why}")


def call_key(address: str, conversation: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """What a call is known by in the file."""
    whole = json.dumps([address, conversation, tool, dict(arguments)], sort_keys=True)
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
