"""Ends the tasks that a piece of work leaves behind: those that it began, and those that these began."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

__all__ = ["apart", "with_children_ended"]

_T = TypeVar("_T")
_GRACE_S = 2.0
_log = logging.getLogger(__name__)
_children: ContextVar[set[asyncio.Task[Any]] | None] = ContextVar("toolspan_child_tasks", default=None)


async def with_children_ended(work: Coroutine[Any, Any, _T], name: str) -> _T:
    """The result of ``work``. However it ends, tasks that it began and that still run are cancelled and
    waited for, and those that ignore this are told in the log, under ``name``."""
    _note_children(asyncio.get_running_loop())
    outer, children = _children.get(), set[asyncio.Task[Any]]()
    _children.set(children)
    try:
        return await work
    finally:
        _children.set(outer)  # not by a token: abandoned work goes on in another context
        if children:
            await _end(children, name)


@contextmanager
def apart() -> Generator[None]:
    """Tasks that are begun in the block belong to no work: they may outlive it."""
    outer = _children.get()
    _children.set(None)
    try:
        yield
    finally:
        _children.set(outer)


async def _end(children: set[asyncio.Task[Any]], name: str) -> None:
    while left := {task for task in children if not task.done()}:
        for task in left:
            task.cancel()
        ended, still = await asyncio.wait(left, timeout=_GRACE_S)
        for task in ended:
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.warning("a task of the handler %r failed", name, exc_info=error)
        if still:
            _log.warning("%d tasks of the handler %r still run: they ignore cancellation", len(still), name)
            return


def _note_children(loop: asyncio.AbstractEventLoop) -> None:
    """Have ``loop`` tell which tasks are begun within ``with_children_ended``."""
    before: Any = loop.get_task_factory()
    if getattr(before, "notes_children", False):
        return

    def factory(loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> Any:
        task = asyncio.Task(work, loop=loop, **more) if before is None else before(loop, work, **more)
        children = _children.get()
        if children is not None:
            children.add(task)
            task.add_done_callback(children.discard)
        return task

    factory.__dict__["notes_children"] = True
    loop.set_task_factory(factory)
