"""``toolspan chat``: talk, turn after turn."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import anyio
import click

from ...sessions.asker import RoutedAsker
from ...sessions.chosen.approvals import ApprovalChoice
from ...sessions.chosen.config import ConfigChoice
from ...sessions.chosen.limits import LimitChoice
from ...sessions.chosen.saving import SavingChoice
from ...sessions.kept.saved_conversation import SavedConversation, named
from ...sessions.preset_session import opened_for
from ..asking.options import AskOptions, ask_options
from ..chat.chat import Chat
from ..chat.prompt import at_the_prompt, line_by_line
from ..chat.servers import server_host
from ..host import TERMINAL
from ..inputs.approvals import approval_options
from ..inputs.limits import limit_options
from ..inputs.options import (
    config_options,
    debug_option,
    json_option,
    locked_option,
    servers_option,
    tool_options,
    workspace_option,
)
from ..inputs.profile import profile_options
from ..inputs.saving import saving_options
from ..module_group import Verb
from ..terminal.output import print_note
from ..terminal.program import command_line

if TYPE_CHECKING:
    from ...routes import Profile


@click.command(name="chat", cls=Verb, example="toolspan chat --workspace . -m ollama/qwen3:8b")
@ask_options
@click.option("--save", metavar="FILE", help="Keep the conversation in FILE, written after each answer.")
@profile_options
@limit_options
@click.option(
    "--resume",
    metavar="FILE|ID",
    help="Go on with the conversation in FILE, and keep it there, or the saved one of that ID; by any model.",
)
@saving_options
@approval_options
@config_options
@locked_option
@debug_option
@workspace_option
@servers_option
@tool_options
@json_option
def command(
    options: AskOptions,
    save: str | None,
    resume: str | None,
    profile: Profile,
    limits: LimitChoice,
    saving: SavingChoice,
    approvals: ApprovalChoice,
    choice: ConfigChoice,
    as_json: bool,
) -> int:
    """Talk with a model that has the config's tools, turn after turn.

    With --json each answer is one line of JSON, as `ask --json` prints it. Questions come from stdin, a line
    each, when that is no terminal; the exit code is then 1 if an answer was no whole one. At a terminal
    answers are shown as they come; Ctrl+C ends one, and what came of it stays part of the conversation.

    The conversation is saved as it happens; the end says how to go on with it. --no-save keeps nothing.
    """
    saving, file = named(saving, resume)
    goes_on = file if saving.save and not saving.fork else None
    saved = SavedConversation.opened(save or goes_on, file, TERMINAL)

    async def run() -> int:
        async with (
            opened_for(options.preset, choice, TERMINAL, options.log_level) as session,
            RoutedAsker(session) as asker,
        ):
            saved.keep(session, saving)
            try:
                with saved.closed_afterwards(session):
                    async with server_host() as host:
                        chat = Chat(asker, options, saved, approvals, limits, profile, host, as_json)
                        chat.folded.whole = options.verbose
                        chat.keeps_lines = saving.save
                        if saved.messages and not as_json:
                            print_note(f"{saved.restored}; {saved.where}")
                        await chat.follow_again()
                        return await (at_the_prompt(chat) if sys.stdin.isatty() else line_by_line(chat))
            finally:
                if saved.name and not as_json:
                    print_note(f"go on with it by `{_next(saved.name, choice)}`")

    return anyio.run(run)


def _next(name: str, choice: ConfigChoice) -> str:
    """The command that goes on with the conversation ``name``, with the same tools."""
    words = ["chat", "--conversation", name]
    words += [word for path in choice.paths for word in ("--config", path)]
    words += ["--workspace", str(choice.workspace)] if choice.workspace else []
    words += [word for server in choice.servers for word in ("--server", server)]
    return command_line(*words)
