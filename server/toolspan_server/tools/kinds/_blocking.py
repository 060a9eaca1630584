"""Runs blocking functions off the event loop."""

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
"""Blocking calls that run at the same time, of built-in handlers and of all others each; more are queued."""

MAX_ABANDONED = 8
"""Calls of one tool that may still run after their time-out; at that number it refuses new calls."""

_running: RunVar[dict[bool, anyio.CapacityLimiter]] = RunVar("toolspan_blocking_calls")


@dataclass
class Blocking:
    """Runs the blocking calls of one handler, each in a thread of its own.

    A cancelled call is abandoned: its thread is no longer awaited, and its slot among ``MAX_RUNNING`` is
    free again. The threads never delay the end of the process. Built-in handlers (``ours``) do not wait for
    others.
    """

    name: str
    ours: bool = False
    _abandoned: int = field(default=0, init=False)

    async def run(self, function: Callable[[], Any]) -> Any:
        """The result of ``function``. Raises what it raises, and ``ToolFailure`` when too many calls are
        stuck.
        """
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
                self._abandoned -= 1  # the loop is closed, so the result has no receiver

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
    except BaseException as error:  # raise with the traceback of the call that awaits it
        return None, error


def _limiter(*, ours: bool) -> anyio.CapacityLimiter:
    try:
        return _running.get()[ours]
    except LookupError:
        limiters = {each: anyio.CapacityLimiter(MAX_RUNNING) for each in (False, True)}
        _running.set(limiters)
        return limiters[ours]
