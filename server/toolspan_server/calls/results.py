"""The tool result: the outcome of every execution, success or failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ToolFailure
from .content import Block


@dataclass(slots=True)  # one is made for each call: a frozen one takes four times as long
class ToolResult:
    """The outcome of one execution. ``execution_time_ms`` is milliseconds, validation included.

    Either ``success`` with ``result`` (any JSON value), or not, with ``error``, ``error_code`` and
    ``user_action``. ``content`` are the content blocks to show when the tool gave some; ``has_value`` says
    whether ``result`` then is more than their text; ``meta`` is for the client's eyes. ``upstream_status`` is
    the HTTP status of the answer that a failure comes from.
    """

    success: bool
    tool_name: str
    execution_time_ms: float
    result: Any = None
    error: str = ""
    error_code: str = ""
    user_action: str = ""
    content: tuple[Block, ...] | None = None
    has_value: bool = True
    meta: Mapping[str, Any] | None = None
    upstream_status: int | None = None

    @classmethod
    def failed(cls, failure: ToolFailure, tool_name: str, execution_time_ms: float) -> ToolResult:
        """The failed result of ``failure``."""
        return cls(
            success=False,
            tool_name=tool_name,
            execution_time_ms=execution_time_ms,
            error=failure.error,
            error_code=failure.error_code,
            user_action=failure.user_action,
            content=failure.content,
            upstream_status=failure.upstream_status,
        )

    def as_dict(self) -> dict[str, Any]:
        """``{"success": true, "result", "tool_name", "execution_time_ms"}``; of a failure
        ``"success": false``, with ``"error", "error_code", "user_action"`` and perhaps ``"upstream_status"``
        for ``"result"``.
        """
        if self.success:
            outcome: dict[str, Any] = {"success": True, "result": self.result}
        else:
            outcome = {
                "success": False,
                "error": self.error,
                "error_code": self.error_code,
                "user_action": self.user_action,
            }
            if self.upstream_status is not None:
                outcome["upstream_status"] = self.upstream_status
        return {**outcome, "tool_name": self.tool_name, "execution_time_ms": self.execution_time_ms}
