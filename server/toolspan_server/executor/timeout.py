"""The time-out step."""

from __future__ import annotations

import asyncio
from typing import Any

from .._running import Ended, Running
from ..context import Context
from ..errors import ToolTimeout
from ._chain import Step

_AGAIN_S = 1.0


def timed_out(following: Step, timeout_ms: int) -> Step:
    """Cancel ``following`` after ``timeout_ms`` and raise ``ToolTimeout``; again each second that it goes on.

    ``Context.cancelled`` is set then, and also when the call is cancelled from outside. A tool that never
    waits costs no timer.
    """
    seconds = timeout_ms / 1000

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        running = Running(following(arguments, context))
        if running.done:
            return running.result
        timer = _Timer(running, context, seconds)
        try:
            return await running.finished()
        except Ended:
            raise ToolTimeout(timeout_ms) from None
        except asyncio.CancelledError:
            context.cancelled.set()
            raise
        finally:
            timer.cancel()

    return step


class _Timer:
    """Stops ``running`` after ``seconds``, and again as long as it does not end."""

    def __init__(self, running: Running[Any], context: Context, seconds: float) -> None:
        self._running = running
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._handle = self._loop.call_later(seconds, self._expire)

    def cancel(self) -> None:
        self._handle.cancel()

    def _expire(self) -> None:
        self._context.cancelled.set()
        self._running.stop("timeout")
        self._handle = self._loop.call_later(_AGAIN_S, self._expire)
