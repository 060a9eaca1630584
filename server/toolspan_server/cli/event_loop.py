"""An event loop that what a task raises does not end."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import Any, cast

import anyio

from ..common.beside_loop import share_the_interpreter

_log = logging.getLogger(__name__)
_ENDING = (SystemExit, KeyboardInterrupt)


def run(main: Callable[[], Awaitable[None]], *, use_uvloop: bool = False) -> None:
    """Run ``main`` to its end, also when a task that a tool began raises ``SystemExit`` meanwhile.

    asyncio lets that, and ``KeyboardInterrupt``, out of the loop, whatever task it is of: whoever waits for
    the task gets it, and here the loop goes on. What ``main`` itself raises comes out.
    """
    ended: list[BaseException] = []
    share_the_interpreter()

    async def guarded() -> None:
        try:
            await main()
        except _ENDING as error:
            ended.append(error)

    anyio.run(guarded, backend_options={"loop_factory": _staying(_base(use_uvloop=use_uvloop))})
    for error in ended:
        raise error


def _base(*, use_uvloop: bool) -> type[asyncio.AbstractEventLoop]:
    if sys.platform == "win32":
        return asyncio.ProactorEventLoop
    if use_uvloop:
        import uvloop

        return uvloop.Loop
    return asyncio.SelectorEventLoop


def _staying(base: type[asyncio.AbstractEventLoop]) -> Callable[[], asyncio.AbstractEventLoop]:
    """Makes event loops that run until ``stop`` is called."""

    def made() -> asyncio.AbstractEventLoop:
        loop: Any = base()
        once, original_stop = loop.run_forever, loop.stop
        stops = False

        def stop() -> None:
            nonlocal stops
            stops = True
            original_stop()

        def run_forever() -> None:
            nonlocal stops
            stops = False
            while True:
                try:
                    once()
                except _ENDING as error:
                    _log.error("a task tried to end the process by %s: it goes on", type(error).__name__)
                else:
                    return
                if stops:  # in the same round, which forgot it
                    original_stop()

        loop.stop, loop.run_forever = stop, run_forever
        return cast("asyncio.AbstractEventLoop", loop)

    return made
