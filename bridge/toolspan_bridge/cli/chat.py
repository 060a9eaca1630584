"""``toolspan chat``: a conversation at a plain prompt."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread
import click
from anyio.abc import TaskStatus

from ..errors import BridgeError
from ..messages import Message
from ._ask import Asker
from ._errors import EXIT_INTERRUPTED
from ._options import config_options, json_option, model_option
from ._output import note
from ._session import opened
from ._talk import Printer, talk

_HELP = "Ask anything. /tools lists the tools, /new forgets what was said, /exit or Ctrl+D leaves."


@click.command(name="chat", short_help="Talk, turn after turn.")
@model_option
@click.option("--system", metavar="TEXT", help="The system prompt; wins over the route's.")
@config_options
@json_option
def command(
    model: str | None, system: str | None, config_paths: tuple[str, ...], skip_invalid: bool, as_json: bool
) -> int:
    """Talk with a model that has the config's tools, turn after turn.

    With --json each answer is one line of JSON, as `ask --json` prints it. Questions come from stdin, a line
    each, when that is no terminal.
    """

    async def run() -> int:
        async with opened(config_paths, skip_invalid=skip_invalid) as session, Asker(session) as asker:
            chat = Chat(asker, model, system, as_json=as_json)
            return await (_at_the_prompt(chat) if sys.stdin.isatty() else _line_by_line(chat))

    return anyio.run(run)


class Chat:
    """One conversation. What was said stays until ``/new``."""

    def __init__(self, asker: Asker, model: str | None, system: str | None, *, as_json: bool) -> None:
        self._asker = asker
        self._model = model
        self._system = system
        self._as_json = as_json
        self._transcript: list[Message] = []

    async def take(self, line: str) -> bool:
        """Do what ``line`` says; whether the conversation goes on. Raises what the provider raises."""
        if line in {"/exit", "/quit"}:
            return False
        if line == "/new":
            self._transcript.clear()
            note("what was said is forgotten")
        elif line == "/tools":
            note(", ".join(tool.name for tool in self._asker.session.toolbox.tools) or "there are no tools")
        elif line.startswith("/"):
            note(_HELP)
        elif line:
            await self._ask(line)
        return True

    async def _ask(self, line: str) -> None:
        asked, provider = await self._asker.routed(line, model=self._model, system=self._system)
        printer = Printer(sys.stderr, quiet=self._as_json)
        answer = await talk(asked, provider, self._asker.session.toolbox, printer, self._transcript)
        click.echo(json.dumps(answer.as_dict(), ensure_ascii=False) if self._as_json else answer.content)


async def _line_by_line(chat: Chat) -> int:
    while line := await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
        if not await chat.take(line.strip()):
            break
    return 0


async def _at_the_prompt(chat: Chat) -> int:
    """Until Ctrl+D, ``/exit``, or Ctrl+C at the prompt; Ctrl+C during an answer ends that answer."""
    from prompt_toolkit import PromptSession

    note(_HELP)
    prompt: PromptSession[str] = PromptSession("you> ")
    while True:
        try:
            line = await prompt.prompt_async()
        except EOFError:
            return 0
        except KeyboardInterrupt:
            return EXIT_INTERRUPTED
        try:
            async with _interruptible():
                if not await chat.take(line.strip()):
                    return 0
        except BridgeError as error:
            note(f"{error}")


@asynccontextmanager
async def _interruptible() -> AsyncGenerator[None]:
    """Ctrl+C ends the block, and nothing else; where signals cannot be received, the process."""
    if sys.platform == "win32":
        yield
        return
    fault: Exception | None = None
    async with anyio.create_task_group() as group:
        await group.start(_cancel_on_interrupt, group.cancel_scope)
        try:
            yield
        except Exception as error:
            # Carried past the task group, which would wrap it in an ExceptionGroup.
            fault = error
        group.cancel_scope.cancel()
    if fault is not None:
        raise fault


async def _cancel_on_interrupt(
    scope: anyio.CancelScope, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            note("interrupted")
            scope.cancel()
            return
