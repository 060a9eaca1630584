"""``toolspan chat``: a conversation at a plain prompt."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable

import anyio
import anyio.to_thread
import click

from ..errors import BridgeError
from ..messages import Message
from ._ask import Asker
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
) -> None:
    """Talk with a model that has the config's tools, turn after turn.

    With --json each answer is one line of JSON, as `ask --json` prints it. Questions come from stdin, a line
    each, when that is no terminal.
    """

    async def run() -> None:
        async with opened(config_paths, skip_invalid=skip_invalid) as session, Asker(session) as asker:
            chat = Chat(asker, model, system, as_json=as_json)
            async for line in _lines():
                if not await chat.take(line.strip()):
                    return

    anyio.run(run)


class Chat:
    """One conversation. What was said stays until ``/new``."""

    def __init__(self, asker: Asker, model: str | None, system: str | None, *, as_json: bool) -> None:
        self._asker = asker
        self._model = model
        self._system = system
        self._as_json = as_json
        self._transcript: list[Message] = []

    async def take(self, line: str) -> bool:
        """Do what ``line`` says; whether the conversation goes on."""
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
        try:
            asked, provider = await self._asker.routed(line, model=self._model, system=self._system)
            printer = Printer(sys.stderr, quiet=self._as_json)
            answer = await talk(asked, provider, self._asker.session.toolbox, printer, self._transcript)
        except BridgeError as error:
            if not sys.stdin.isatty():
                raise
            note(f"{error}")
            return
        click.echo(_one_line(answer.as_dict()) if self._as_json else answer.content)


def _one_line(data: object) -> str:
    import json

    return json.dumps(data, ensure_ascii=False)


async def _lines() -> AsyncIterator[str]:
    """What the person types, until the end of the input. Ctrl+C at the prompt leaves, as everywhere."""
    read = _prompt() if sys.stdin.isatty() else sys.stdin.readline
    if sys.stdin.isatty():
        note(_HELP)
    while True:
        try:
            line = await anyio.to_thread.run_sync(read, abandon_on_cancel=True)
        except EOFError:
            return
        if not line:
            return
        yield line


def _prompt() -> Callable[[], str]:
    from prompt_toolkit import PromptSession

    session: PromptSession[str] = PromptSession("you> ")
    return lambda: session.prompt() + "\n"
