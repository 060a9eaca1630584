"""Follows a run on a queue until nothing of it is left, or nobody there can make what is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import anyio

from ...errors import UnreachableError
from ..runs.limits import Stop
from .connection import Queue
from .counts import Counted, counts_of_run
from .listening import listening
from .putting import Put
from .state import RunState, end_run, state_of_run

__all__ = ["OnState", "follow"]

_LOOKS_S = 0.5
_STUCK_S = 5.0
_LOST_S = 2.0

OnState = Callable[[RunState, Mapping[tuple[str, str], Counted]], None]
"""Told how a run stands, and what was made of it since it was put, by model and suite."""


async def follow(
    queue: Queue, put: Put, stop: Stop, on_state: OnState, on_lost: Callable[[str], None] = lambda text: None
) -> RunState:
    """How the run stands once it is over: done, ended by a limit, or left since ``stop`` was asked for or all
    workers that are there have refused what is left. While the queue does not answer it waits, and
    ``on_lost`` is told why. Raises ``StoreError``; ``UnreachableError`` where it is to stop meanwhile."""
    stuck_since = math.inf
    async with listening(queue) as changes:
        while True:
            try:
                state = await _state(queue, put, on_state)
            except UnreachableError as error:
                if stop.is_asked:
                    raise
                on_lost(f"{error.message}; it is tried again")
                stuck_since = math.inf
                await changes.wait(_LOST_S)
                continue
            if state.late and not state.ended:
                continue
            stuck_since = min(stuck_since, anyio.current_time()) if state.is_stuck else math.inf
            if state.is_over or stop.is_asked or anyio.current_time() - stuck_since > _STUCK_S:
                return state
            await changes.wait(_LOOKS_S)
    raise AssertionError("a run is followed until it is over")


async def _state(queue: Queue, put: Put, on_state: OnState) -> RunState:
    """How the run stands, which is told; where its time is over it is ended."""
    state = await state_of_run(queue, put.id, put.lanes)
    on_state(state, await counts_of_run(queue, put.id))
    if state.late and not state.ended:
        await end_run(queue, put.id, "max_time")
    return state
