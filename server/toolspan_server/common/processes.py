"""Starts child processes completely or not at all, even when the caller is cancelled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import Process


async def open_process(command: Sequence[str], **options: Any) -> Process:
    """``anyio.open_process``, but a cancellation during it takes effect at the caller's next await.

    Else nobody would have a process that was made already: its pipes would stay open, and nobody would wait
    for its end. So nothing may be awaited between this and the ``try`` that ends it. Raises ``OSError``.
    """
    await anyio.lowlevel.checkpoint_if_cancelled()
    with anyio.CancelScope(shield=True):
        return await anyio.open_process(command, **options)
    raise AssertionError("nobody can cancel the scope")
