"""Ends the call at its timeout, the processing of the result included."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ....calls.client import NullClient
from ....calls.context import Context
from ....calls.slots import WAITED
from ....common.running import Running, WorkEnded
from ....errors import ToolFailure, ToolTimeout
from .._clock import Clock
from ..step import Step, StepInputs

ORDER = 30

ANSWER_S = 600.0
MAX_ABANDONED = 8
"""Calls of one tool that may still run after they were abandoned; at that number it refuses new calls."""

_MOST_TRIES = 4

_log = logging.getLogger(__name__)


def build(following: Step, inputs: StepInputs) -> Step:
    """For every tool."""
    return timed_out(following, inputs.tool.timeout_ms, inputs.answer_seconds, inputs.redact)


def timed_out(
    following: Step,
    timeout_ms: int,
    answer_seconds: float = ANSWER_S,
    redact: Callable[[str], str] | None = None,
) -> Step:
    """Cancel ``following`` after ``timeout_ms`` and raise ``ToolTimeout``; cancel again each second until it
    ends.

    The time that the call was queued counts. A call that still runs some seconds after its cancellation is
    abandoned, so that the caller need not wait. ``Context.cancelled`` is set then, and also when the call is
    cancelled from outside. While the client is asked, the clock is paused for up to ``answer_seconds`` each
    time. A tool that never waits costs no timer.
    """
    seconds = timeout_ms / 1000
    abandoned = _Abandoned()

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        if abandoned.count >= MAX_ABANDONED:
            raise _stuck(context.tool_name, abandoned.count)
        left = seconds - _waited() if WAITED.get() else seconds
        clock = None
        if type(context.client) is not NullClient:
            from .._client import ToolsClient

            clock = Clock(left)
            context = replace(context, client=ToolsClient(context.client, clock, answer_seconds, redact))
        running = Running(following(arguments, context))
        if running.done:
            return running.result
        clock = clock or Clock(left)
        expiry = _Expiry(running, context, abandoned)
        clock.start(expiry)
        return await _finished(running, clock, expiry, timeout_ms)

    return step


async def _finished(running: Running[Any], clock: Clock, expiry: _Expiry, timeout_ms: int) -> Any:
    try:
        return await running.finished()
    except WorkEnded:
        raise ToolTimeout(timeout_ms) from None
    except asyncio.CancelledError:
        expiry.context.cancelled.set()
        raise
    except Exception as error:
        if not expiry.tries or (isinstance(error, ToolFailure) and error.error_code == "timeout"):
            raise
        # What fails because its time is over, such as a worker that started too late, is a time-out.
        raise ToolTimeout(timeout_ms) from None
    finally:
        clock.stop()


class _Abandoned:
    """The number of a tool's calls that still run although they were abandoned."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def add(self, more: int) -> None:
        self.count += more


class _Expiry:
    """What to do each time that a call's clock expires: cancel the call, and abandon it in the end."""

    __slots__ = ("_abandoned", "_running", "context", "tries")

    def __init__(self, running: Running[Any], context: Context, abandoned: _Abandoned) -> None:
        self._running = running
        self._abandoned = abandoned
        self.context = context
        self.tries = 0

    def __call__(self) -> None:
        self.context.cancelled.set()
        self.tries += 1
        if self.tries < _MOST_TRIES:
            self._running.stop("timeout")
        elif self.tries == _MOST_TRIES:
            name = self.context.tool_name
            _log.warning("tool %r still runs after its time-out: it ignores cancellation", name)
            self._running.abandon(self._abandoned.add)


def _waited() -> float:
    """How long the call was queued for its slot; 0 for calls that it makes itself."""
    waited = WAITED.get()
    WAITED.set(0.0)
    return waited


def _stuck(name: str, count: int) -> ToolFailure:
    return ToolFailure(
        f"'{name}' is stuck: {count} of its calls still run after their time-out",
        error_code="busy",
        user_action="Wait until they end, or restart the server.",
    )
