"""The import of the SDK, which two threads must not do at the same time."""

from __future__ import annotations

import sys
from importlib import import_module

import anyio

_POLL_SECONDS = 0.02


async def sdk_imported() -> None:
    """Import the SDK, once no other thread does: in the middle of each other's imports, both fail."""
    while _is_being_imported():  # noqa: ASYNC110 - no event is set when a module is there
        await anyio.sleep(_POLL_SECONDS)
    import_module("mcp")


def _is_being_imported() -> bool:
    module = sys.modules.get("mcp")
    return module is not None and getattr(module.__spec__, "_initializing", False)
