"""Background work of a server, which no failure of that work may end.

A task group cancels everything beside a task that raises. Work that is nobody's to wait for is therefore
started through ``keep_running`` or ``run_contained``: what it raises is logged with the work's name and
counted. ``tests/server/test_supervision.py`` reads the sources and refuses any other task.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import Any

_log = logging.getLogger("toolspan.background")
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 30.0
_STEADY_S = 60.0
"""Work that ran for so long before it failed is started again after the first pause."""
_LONGEST_WORDS = 500

Work = Callable[[], Awaitable[object]]

_failures: Counter[str] = Counter()


async def keep_running(name: str, work: Work) -> None:
    """Run ``work`` until it returns or is cancelled, and start it again whenever it raises.

    The pause before that doubles from 0.1 s to 30 s.
    """
    import anyio

    pause = _FIRST_PAUSE_S
    while True:
        started = time.monotonic()
        try:
            await work()
        except Exception as error:
            if time.monotonic() - started > _STEADY_S:
                pause = _FIRST_PAUSE_S
            report_failure(name, error, f"is started again in {pause:g} s")
        else:
            return
        await anyio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_S)


async def run_contained(name: str, work: Work) -> bool:
    """Run ``work`` once; whether it ended without raising."""
    try:
        await work()
    except Exception as error:
        report_failure(name, error, "ended")
        return False
    return True


def kept(name: str, work: Work) -> Callable[[], Coroutine[Any, Any, None]]:
    """``keep_running`` of ``work``, for a task group to start."""
    return partial(keep_running, name, work)


def report_failure(name: str, error: BaseException, consequence: str = "goes on") -> None:
    """Log and count a failure of the background work ``name``."""
    _failures[name] += 1
    words = str(error).encode("utf-8", "backslashreplace").decode()[:_LONGEST_WORDS]
    _log.error(
        "the background work %r failed (%s: %s) and %s",
        name,
        type(error).__name__,
        words,
        consequence,
        exc_info=error,
    )


def failures() -> Mapping[str, int]:
    """How often each background work of this process has failed, by its name."""
    return dict(_failures)


def failure_samples() -> Iterable[tuple[Mapping[str, str], float]]:
    """The same as the samples of a metric."""
    return [({"work": name}, count) for name, count in sorted(_failures.items())]
