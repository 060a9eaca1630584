"""Exceptions raised by the code of a tool: their cause, their origin, and their message."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import Any, cast


def innermost(error: BaseException) -> BaseException:
    """``error``; for a group with one member, that member."""
    found: Any = error
    while isinstance(found, BaseExceptionGroup) and len(cast("Any", found).exceptions) == 1:
        found = cast("Any", found).exceptions[0]
    return cast("BaseException", found)


def is_from_outside(error: BaseException) -> bool:
    """Whether ``error`` says that the call is cancelled, or that its coroutine is closed: not the tool's."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    if isinstance(error, GeneratorExit):
        return asyncio.events._get_running_loop() is None
    return False


def message_of(error: BaseException) -> str:
    """The message of the tool's exception, for the model."""
    if isinstance(error, asyncio.CancelledError):
        return "The tool's own work was cancelled"
    if isinstance(error, SystemExit):
        return f"The tool tried to exit the process (status {_text_of(error.code, repr)})"
    if isinstance(error, Exception):
        return _text_of(error, str) or type(error).__name__
    text = _text_of(error, str)
    return f"The tool raised {type(error).__name__}{': ' if text else ''}{text}"


def traceback_of(error: BaseException) -> str:
    """The traceback of ``error``."""
    try:
        return "".join(traceback.format_exception(error))
    except BaseException:  # its own words fail
        return f"{type(error).__name__}, which cannot be shown"


def _text_of(value: Any, written: Callable[[Any], str]) -> str:
    """``value`` as ``written``; its own code may do anything then, except end the call."""
    try:
        return str.__str__(written(value))
    except BaseException:
        return type(value).__name__
