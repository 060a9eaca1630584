"""The time-out step."""

from __future__ import annotations

from typing import Any

import anyio

from ..context import Context
from ..errors import ToolTimeout
from ._chain import Step


def timed_out(following: Step, timeout_ms: int) -> Step:
    """Cancel ``following`` after ``timeout_ms`` and raise ``ToolTimeout``.

    ``Context.cancelled`` is set then, and also when the call is cancelled from outside.
    """
    seconds = timeout_ms / 1000

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        try:
            with anyio.move_on_after(seconds):
                return await following(arguments, context)
        except anyio.get_cancelled_exc_class():
            context.cancelled.set()
            raise
        context.cancelled.set()
        raise ToolTimeout(timeout_ms)

    return step
