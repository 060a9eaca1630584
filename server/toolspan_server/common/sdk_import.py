"""The one place where the MCP SDK is imported: half a second of work, by one thread at a time.

Two threads in the middle of the SDK's modules at once get ImportErrors of circular imports.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from importlib import import_module

import anyio
import anyio.to_thread

_SHORT_TURN_S = 0.0005
_alone = threading.RLock()
_there: set[str] = set()


@contextmanager
def importing_sdk() -> Generator[None]:
    """Import the SDK, and modules that use it, in this block, which blocks while another thread is in it."""
    with _alone, _short_turns():
        yield


async def imported_with_sdk(*modules: str) -> None:
    """Have ``modules``, which use the SDK, imported by a thread, while the event loop goes on."""
    if not _there.issuperset(modules):
        own = anyio.CapacityLimiter(1)  # a thread that waits for its turn is none of the tools'
        await anyio.to_thread.run_sync(partial(_import, modules), abandon_on_cancel=True, limiter=own)


def _import(modules: tuple[str, ...]) -> None:
    with importing_sdk():
        for module in modules:
            import_module(module)
    _there.update(modules)


@contextmanager
def _short_turns() -> Generator[None]:
    """Let other threads, above all the event loop's, have the interpreter more often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SHORT_TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
