"""Functions that block, off the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.lowlevel import RunVar

from ...errors import ToolFailure

MAX_RUNNING = 16
"""Blocking calls that run at the same time, of all handlers of ours, and of all others; more wait in line."""

MAX_ABANDONED = 8
"""Calls of one tool that may still be running after their time-out; at that number it refuses new ones."""

_running: RunVar[dict[bool, anyio.CapacityLimiter]] = RunVar("toolspan_blocking_calls")


@dataclass
class Blocking:
    """Runs the blocking calls of one handler, each in a thread of its own.

    A call that is cancelled is abandoned: nobody waits for its thread, and its place among
    ``MAX_RUNNING`` is free again. The threads never hold up the end of the process. Handlers that are
    ``ours`` do not wait for those of others.
    """

    name: str
    ours: bool = False
    _abandoned: int = field(default=0, init=False)

    async def run(self, function: Callable[[], Any]) -> Any:
        """What ``function`` gives or raises. Raises ``ToolFailure`` when too many calls are stuck."""
        async with _limiter(ours=self.ours):
            if self._abandoned >= MAX_ABANDONED:
                raise ToolFailure(
                    f"'{self.name}' is stuck: {self._abandoned} of its calls still run after their time-out",
                    error_code="busy",
                    user_action="Wait until they end, or restart the server.",
                )
            return await self._in_thread(function)

    async def _in_thread(self, function: Callable[[], Any]) -> Any:
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
        inside = contextvars.copy_context()

        def deliver(result: Any, error: BaseException | None) -> None:
            if outcome.cancelled():
                self._abandoned -= 1
            else:
                outcome.set_result((result, error))

        def work() -> None:
            result, error = _outcome(inside, function)
            try:
                loop.call_soon_threadsafe(deliver, result, error)
            except RuntimeError:
                self._abandoned -= 1  # the loop has ended: nobody is left to tell

        threading.Thread(target=work, name=f"toolspan {self.name}", daemon=True).start()
        try:
            result, error = await outcome
        except asyncio.CancelledError:
            self._abandoned += outcome.cancelled()
            raise
        if error is not None:
            raise error
        return result


def _outcome(inside: contextvars.Context, function: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return inside.run(function), None
    except BaseException as error:  # for whoever waits, as if the function had been called there
        return None, error


def _limiter(*, ours: bool) -> anyio.CapacityLimiter:
    try:
        return _running.get()[ours]
    except LookupError:
        limiters = {each: anyio.CapacityLimiter(MAX_RUNNING) for each in (False, True)}
        _running.set(limiters)
        return limiters[ours]
