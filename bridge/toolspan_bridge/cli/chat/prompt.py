"""Where the lines of a chat come from: a terminal, or a file."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskStatus

from ...errors import BridgeError
from ..terminal.errors import EXIT_INTERRUPTED
from ..terminal.output import print_note
from .banner import show_banner
from .chat import Chat
from .lines import take
from .status import status_of

__all__ = ["at_the_prompt", "line_by_line"]

_AGAIN = "Ctrl+C again leaves the chat, as Ctrl+D and /quit do"


async def line_by_line(chat: Chat) -> int:
    """Until the end of stdin; the exit code is 1 when an answer was no whole one."""
    while line := await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
        if not await take(chat, line.rstrip()):
            break
    return 1 if chat.broken else 0


async def at_the_prompt(chat: Chat) -> int:
    """Until Ctrl+D, ``/quit``, or Ctrl+C twice where nothing is typed; Ctrl+C during an answer ends that.
    Raises ``BridgeError`` where the model cannot answer."""
    from .input.completion import ChatCompleter
    from .input.line import InputLine

    await show_banner(chat)
    line = InputLine(ChatCompleter(chat), keeps=chat.keeps_lines)
    leaving = False
    while True:
        draft, chat.draft = chat.draft, ""
        try:
            prompt = "plan> " if chat.saved.conversation.plan_mode else "you> "
            text = await line.read(prompt, draft, await status_of(chat))
        except EOFError:
            return 0
        except KeyboardInterrupt:
            if leaving:
                return EXIT_INTERRUPTED
            leaving = True
            print_note(_AGAIN)
            continue
        leaving = False
        try:
            async with _interruptible():
                if not await take(chat, text.rstrip()):
                    return 0
        except BridgeError as error:
            print_note(f"{error}")


@asynccontextmanager
async def _interruptible() -> AsyncGenerator[None]:
    """Ctrl+C ends the block, and nothing else; where signals cannot be received, the process."""
    if sys.platform == "win32":
        yield
        return
    fault: Exception | None = None
    with anyio.CancelScope() as interrupted:
        async with anyio.create_task_group() as group:
            await group.start(_cancel_on_interrupt, interrupted)
            try:
                yield
            except Exception as error:
                # Carried past the task group, which would wrap it in an ExceptionGroup.
                fault = error
            group.cancel_scope.cancel()
    if interrupted.cancelled_caught:
        print_note("interrupted")
    if fault is not None:
        raise fault


async def _cancel_on_interrupt(
    scope: anyio.CancelScope, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel()
            return
