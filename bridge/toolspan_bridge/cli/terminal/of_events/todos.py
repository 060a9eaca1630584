"""The list of tasks that ``TodoWrite`` keeps, as it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

__all__ = ["TODO_WRITE", "progress_text", "todo_lines"]

TODO_WRITE = "TodoWrite"
"""What the name of the tool that gives such results ends with."""

_DONE = "  [x]"
_MARKS = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}


def todo_lines(result: Any) -> list[str]:
    """A line for each task of a result ``{"todos": [{"content", "status", "activeForm"?}]}``; none of
    anything else."""
    listed: object = cast("Mapping[str, Any]", result).get("todos") if isinstance(result, Mapping) else None
    tasks = cast("list[object]", listed) if isinstance(listed, list) else []
    return [_line(cast("Mapping[str, Any]", each)) for each in tasks if isinstance(each, Mapping)]


def progress_text(result: Any) -> str:
    """``2 of 5 tasks done`` of such a result."""
    tasks = todo_lines(result)
    return f"{sum(line.startswith(_DONE) for line in tasks)} of {len(tasks)} tasks done"


def _line(task: Mapping[str, Any]) -> str:
    status = str(task.get("status"))
    running = status == "in_progress" and task.get("activeForm")
    return f"  {_MARKS.get(status, '[?]')} {running or task.get('content', '')}"
