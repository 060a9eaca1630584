"""Calls that run on at their servers as tasks, kept in a file so that a restarted bridge takes them up again.

    {"toolspan_tasks": 1, "tasks": [{"call", "task", "until"}]}

``call`` is a hash of the server's address, the principal, the conversation, the tool and its arguments;
``until`` is when the task is over in any case, in seconds since 1970.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..files.state_file import StateFile

FILE = "tasks.json"
_MARK = "toolspan_tasks"
_MOST = 200


class KeptTasks:
    """The tasks in the file ``path``. Raises ``StoreError`` when it cannot be read or written."""

    def __init__(self, path: Path) -> None:
        self._file = StateFile(path, _MARK, "tasks", "the calls that run as tasks,")

    def find(self, call: str) -> str | None:
        """The id of the task that ``call`` runs as, if it does."""
        found = [each for each in _running(self._file.read()) if each.get("call") == call]
        return str(found[-1]["task"]) if found else None

    def keep(self, call: str, task: str, seconds: float) -> None:
        """Keep that ``call`` runs as ``task``, for ``seconds`` at most."""
        self._replace(call, {"call": call, "task": task, "until": time.time() + seconds})

    def forget(self, call: str) -> None:
        """The task of ``call`` is over."""
        self._replace(call)

    def _replace(self, call: str, *entries: Mapping[str, Any]) -> None:
        def changed(tasks: Sequence[dict[str, Any]]) -> list[Mapping[str, Any]]:
            others = [each for each in _running(tasks) if each.get("call") != call]
            return [*others, *entries][-_MOST:]

        self._file.change(changed)


def _running(tasks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in tasks if isinstance(each.get("until"), float) and each["until"] > time.time()]


def call_key(
    address: str, principal: str | None, conversation: str, tool: str, arguments: Mapping[str, Any]
) -> str:
    """What a call is known by in the file."""
    whole = json.dumps([address, principal, conversation, tool, dict(arguments)], sort_keys=True)
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
