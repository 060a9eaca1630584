"""``toolspan chat``: a conversation at a plain prompt."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import anyio.to_thread
import click
from anyio.abc import TaskStatus

from ...errors import BridgeError
from ...messages import EFFORTS, ReasoningEffort
from ..asking.approving import approver_of
from ..asking.asker import RoutedAsker
from ..asking.options import AskOptions, ask_options
from ..asking.saved_conversation import SavedConversation
from ..asking.session import opened
from ..inputs.approvals import ApprovalChoice, approval_options
from ..inputs.images import read_images
from ..inputs.options import (
    ConfigChoice,
    config_options,
    json_option,
    workspace_option,
)
from ..terminal.costs import cost_data, cost_line
from ..terminal.errors import EXIT_INTERRUPTED
from ..terminal.output import emit_json, print_note
from ..terminal.talk import Printer, talk

_HELP = (
    "Ask anything. /tools lists the tools, /tools refresh takes them as they are now, /image FILE goes with "
    "the next question, /reasoning EFFORT says how much to think (none, low, medium, high, or default), "
    "/save FILE saves the conversation, /new starts another one, /exit or Ctrl+D leaves."
)


@click.command(name="chat", short_help="Talk, turn after turn.")
@ask_options
@click.option("--save", metavar="FILE", help="Keep the conversation in FILE, written after each answer.")
@click.option("--resume", metavar="FILE", help="Go on with the conversation in FILE, with any model.")
@approval_options
@config_options
@workspace_option
@json_option
def command(
    options: AskOptions,
    save: str | None,
    resume: str | None,
    approvals: ApprovalChoice,
    choice: ConfigChoice,
    as_json: bool,
) -> int:
    """Talk with a model that has the config's tools, turn after turn.

    With --json each answer is one line of JSON, as `ask --json` prints it. Questions come from stdin, a line
    each, when that is no terminal; the exit code is then 1 if an answer was no whole one. At a terminal
    answers are shown as they come; Ctrl+C ends one, and what came of it stays part of the conversation.
    """
    saved = SavedConversation.opened(save, resume)

    async def run() -> int:
        async with opened(choice) as session, RoutedAsker(session) as asker:
            chat = Chat(asker, options, saved, approvals, as_json=as_json)
            return await (_at_the_prompt(chat) if sys.stdin.isatty() else _line_by_line(chat))

    return anyio.run(run)


class Chat:
    """One conversation. Its messages stay until ``/new``; ``options`` apply to every question, their
    images only to the next one."""

    def __init__(
        self,
        asker: RoutedAsker,
        options: AskOptions,
        saved: SavedConversation,
        approvals: ApprovalChoice,
        *,
        as_json: bool,
    ) -> None:
        self._asker = asker
        self._options = options
        self._saved = saved
        self._approvals = approvals
        self._as_json = as_json
        self.broken = False
        """Whether an answer was no whole one."""

    async def take(self, line: str) -> bool:
        """Process ``line``; returns whether the conversation continues. Raises what the provider raises."""
        if line in {"/exit", "/quit"}:
            return False
        if line == "/new":
            self._saved.start_anew()
            print_note("a new conversation starts")
        elif line == "/tools":
            print_note(
                ", ".join(tool.name for tool in self._asker.session.toolbox.tools) or "there are no tools"
            )
        elif line == "/tools refresh":
            self._saved.conversation.refresh()
            print_note("the next question begins with its own system prompt and the tools as they are now")
        elif line.startswith("/save "):
            print_note(self._saved.save_as(line.removeprefix("/save ").strip()))
        elif line.startswith("/image "):
            more = read_images([line.removeprefix("/image ").strip()])
            self._options = replace(self._options, images=(*self._options.images, *more))
        elif line.split()[:1] == ["/reasoning"]:
            self._set_reasoning(line.removeprefix("/reasoning").strip())
        elif line.startswith("/"):
            print_note(_HELP)
        elif line:
            await self._ask(line)
        return True

    def _set_reasoning(self, effort: str) -> None:
        known: dict[str, ReasoningEffort] = {each: each for each in EFFORTS}
        if effort != "default" and effort not in known:
            print_note(f"/reasoning takes one of {', '.join(EFFORTS)}, default")
            return
        self._options = replace(self._options, reasoning=known.get(effort))
        print_note(f"reasoning: {effort}")

    async def _ask(self, line: str) -> None:
        asked, provider = await self._asker.routed(line, self._options)
        live = sys.stdout if self._options.stream else None
        printer = Printer(sys.stderr, quiet=self._as_json, live=live)
        question, self._options = self._options.applied_to(asked), replace(self._options, images=())
        session, conversation = self._asker.session, self._saved.conversation
        approver = approver_of(session, self._approvals, conversation.id)
        with self._saved.written():
            meter = self._asker.meter(question, provider)
            try:
                answer = await talk(
                    question, provider, session.toolbox, printer, conversation, meter, approver
                )
            finally:
                conversation.spend(meter.usd)
        self.broken = self.broken or answer.broken
        spent = meter.usd, conversation.usd
        if self._as_json:
            emit_json({**answer.as_dict(), "cost": cost_data(*spent, chat=True)}, indent=None)
            return
        printer.answer(answer.content, answer.citations)
        if meter.may_be_known:
            print_note(cost_line(*spent, chat=True))


async def _line_by_line(chat: Chat) -> int:
    while line := await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
        if not await chat.take(line.strip()):
            break
    return 1 if chat.broken else 0


async def _at_the_prompt(chat: Chat) -> int:
    """Until Ctrl+D, ``/exit``, or Ctrl+C at the prompt; Ctrl+C during an answer ends that answer."""
    from prompt_toolkit import PromptSession

    print_note(_HELP)
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
