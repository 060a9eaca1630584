"""The time-out step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .._running import Ended, Running
from ..client import Nobody
from ..context import Context
from ..errors import ToolTimeout
from ._chain import Step
from ._clock import Clock

ANSWER_S = 600.0


def timed_out(
    following: Step,
    timeout_ms: int,
    answer_seconds: float = ANSWER_S,
    redact: Callable[[str], str] | None = None,
) -> Step:
    """Cancel ``following`` after ``timeout_ms`` and raise ``ToolTimeout``; again each second that it goes on.

    ``Context.cancelled`` is set then, and also when the call is cancelled from outside. While the client is
    asked the clock stands still: that may take ``answer_seconds`` each time. A tool that never waits costs
    no timer.
    """
    seconds = timeout_ms / 1000

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        clock = Clock(seconds)
        if type(context.client) is not Nobody:
            from ._client import ToolsClient

            context = replace(context, client=ToolsClient(context.client, clock, answer_seconds, redact))
        running = Running(following(arguments, context))
        if running.done:
            return running.result

        def expire() -> None:
            context.cancelled.set()
            running.stop("timeout")

        clock.start(expire)
        try:
            return await running.finished()
        except Ended:
            raise ToolTimeout(timeout_ms) from None
        except asyncio.CancelledError:
            context.cancelled.set()
            raise
        finally:
            clock.stop()

    return step
