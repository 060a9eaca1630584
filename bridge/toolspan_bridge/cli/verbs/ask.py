"""``toolspan ask``: answer one question with the tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import click

from ...sessions.chosen.approvals import LOCAL_PRINCIPAL, ApprovalChoice
from ...sessions.chosen.config import ConfigChoice
from ...sessions.chosen.limits import LimitChoice
from ...sessions.chosen.saving import SavingChoice
from ...sessions.preset_session import opened_for
from ..asking.options import AskOptions, ask_options
from ..asking.reporting import Report
from ..host import TERMINAL
from ..inputs import completed
from ..inputs.approvals import approval_options
from ..inputs.limits import limit_options
from ..inputs.options import (
    config_options,
    debug_option,
    locked_option,
    servers_option,
    tool_options,
    workspace_option,
)
from ..inputs.output_choice import Output, output_options
from ..inputs.piped import asked_with_stdin, prompt_of
from ..inputs.profile import profile_options
from ..inputs.saving import saving_options
from ..inputs.schema import read_schema
from ..module_group import Verb
from ..terminal.output import emit_json

if TYPE_CHECKING:
    from ...events import Answer
    from ...loop import Question
    from ...providers import Provider
    from ...routes import Profile
    from ...sessions.asker import RoutedAsker
    from ...sessions.kept.saved_conversation import SavedConversation
    from ...sessions.named.mentions import Asked
    from ...sessions.session import Session

_NEEDED_NEXT = (
    "toolspan_bridge.sessions.asker",
    "toolspan_bridge.sessions.agent",
    "toolspan_bridge.sessions.named.mentions",
    "toolspan_bridge.cli.terminal.printing",
)
"""What a question needs once the servers have started."""

EXIT_NO_FIT = 8
"""The exit code when the answer does not fit the schema that it has to fit."""
EXIT_LIMIT = 9
"""The exit code when a limit ended the question."""


@click.command(name="ask", cls=Verb, example='toolspan ask "What is 17% of 2340?" --tool math_eval')
@click.argument("question", required=False)
@click.option(
    "--prompt",
    metavar="FILE",
    shell_complete=completed.files,
    help="A file with the question, to which QUESTION is added; a first line #!… is left out.",
)
@output_options
@ask_options
@profile_options
@click.option(
    "--schema",
    "schema_path",
    metavar="FILE",
    shell_complete=completed.files,
    help="A JSON Schema that the answer has to fit.",
)
@click.option(
    "--dry-run", is_flag=True, help="Show what would be sent and offered; only the tools are listed."
)
@limit_options
@saving_options
@approval_options
@config_options
@locked_option
@debug_option
@workspace_option
@servers_option
@tool_options
def command(
    question: str | None,
    prompt: str | None,
    options: AskOptions,
    profile: Profile,
    schema_path: str | None,
    dry_run: bool,
    limits: LimitChoice,
    saving: SavingChoice,
    approvals: ApprovalChoice,
    choice: ConfigChoice,
    output: Output,
    as_json: bool,
) -> int:
    """Ask a model QUESTION with the config's tools and print the answer.

    What is piped in goes with the question, as text; without a QUESTION, or for -, it is the question. A
    picture, PDF or sound is piped in by --file -.

    The tool calls, their results and times are printed on stderr, or in the JSON. At a terminal the answer is
    shown as it comes. An incomplete answer (it breaks off, is cut off, refused, malformed or empty) is
    printed as far as it came, and the exit code is 1.

    What it cost is on stderr where a price is known, or in the JSON ("cost": {"usd": …}, null for unknown).

    The conversation is saved as it happens: --continue goes on with the last one, --no-save keeps nothing.

    With --schema the answer is one JSON value, printed alone ("value" in the JSON). The model is told once
    why its answer does not fit; when the next one does not either, it is printed and the exit code is 8.

    At a limit (--max-iterations, --max-calls …, or tools.max_iterations and limits.question of the config)
    the model gives its answer without further tools, if there is room for that; which limit it was is said,
    and the exit code is 9.
    """
    question = question if prompt is None else prompt_of(prompt, question)
    piped = asked_with_stdin(question, reads_stdin=not options.takes_stdin)
    schema = None if schema_path is None else read_schema(Path(schema_path))
    options = options.with_images(piped.parts)
    options = options if schema is None else replace(options, stream=False)
    asking = _Asking(piped.text, options, profile, schema, limits, saving, approvals, choice, output)
    return anyio.run(asking.shown if dry_run else asking.answered)


@dataclass(frozen=True, slots=True)
class _Asking:
    """A question, as the command line has it."""

    text: str
    options: AskOptions
    profile: Profile
    schema: Mapping[str, Any] | None
    limits: LimitChoice
    saving: SavingChoice
    approvals: ApprovalChoice
    choice: ConfigChoice
    output: Output

    async def answered(self) -> int:
        """Ask it, print what comes, and give the exit code."""
        report = Report(self.output, stream=self.options.stream, verbose=self.options.verbose)
        async with self._opened(report) as (session, asker):
            from ...conversation import Conversation
            from ...sessions.agent import agent_of
            from ...sessions.kept.saved_conversation import SavedConversation
            from ...sessions.named.mentions import with_mentions
            from ..terminal.talk import talk

            mentioned = await with_mentions(self.text, session.toolbox)
            saved = SavedConversation(Conversation(), None, TERMINAL)
            saved.keep(session, self.saving)
            report.keep = saved.keep_file
            asked, provider = await self._routed(mentioned, asker, saved)
            await asker.standing.heed(asked, provider)
            meter = asker.meter(asked, provider)
            with saved.closed_afterwards(session), saved.written():
                with_tools = await asker.failing_tools.heed(asked, provider, saved.conversation)
                agent = agent_of(asked, provider, meter, with_tools, self.approvals, saved, LOCAL_PRINCIPAL)
                find = agent.spending.charging(asker.find, session.config.providers)
                session.client.use(agent.question, agent.provider, agent.approver, find)
                answer = await talk(
                    agent.question,
                    agent.provider,
                    agent.toolbox,
                    report.shows,
                    saved.conversation,
                    meter,
                    agent.approver,
                    agent.spending,
                )
            report.finish(answer, meter, saved)
            return exit_code(answer)

    async def shown(self) -> int:
        """Show what would be sent. Resources that it names are not read."""
        from ...conversation import Conversation
        from ...providers.preview import shown_keys
        from ...sessions.agent import agent_of
        from ...sessions.kept.saved_conversation import SavedConversation
        from ...sessions.named.mentions import Asked
        from ..asking.dry_run import dry_run

        with shown_keys() as variables:
            async with self._opened(Report(self.output, stream=False)) as (session, asker):
                saved = SavedConversation(Conversation(), None, TERMINAL)
                saved.look_up(session, self.saving)
                asked, provider = await self._routed(Asked(self.text), asker, saved)
                meter = asker.meter(asked, provider)
                with_tools = await asker.failing_tools.heed(asked, provider, saved.conversation)
                agent = agent_of(asked, provider, meter, with_tools, self.approvals, saved, LOCAL_PRINCIPAL)
                found = await dry_run(agent, provider, saved, variables)
        if self.output in ("json", "jsonl"):
            emit_json(found.as_dict(), indent=2 if self.output == "json" else None)
        else:
            found.show()
        return 0

    @asynccontextmanager
    async def _opened(self, report: Report) -> AsyncGenerator[tuple[Session, RoutedAsker]]:
        preset, level = self.options.preset, self.options.log_level
        with report.notes():
            async with opened_for(preset, self.choice, TERMINAL, level, meanwhile=_NEEDED_NEXT) as session:
                from ...sessions.asker import RoutedAsker

                async with RoutedAsker(session) as asker:
                    yield session, asker

    async def _routed(
        self, mentioned: Asked, asker: RoutedAsker, saved: SavedConversation
    ) -> tuple[Question, Provider]:
        from ...sessions.named.attached import check_files

        asked, provider = await asker.routed(
            mentioned.text,
            self.options.in_conversation(saved.conversation.settings),
            profile=self.profile,
            conversation=saved.conversation,
        )
        asked = self.options.asking(mentioned).applied_to(asked)
        check_files(asked, provider)
        return self.limits.applied_to(replace(asked, answer_schema=self.schema)), provider


def exit_code(answer: Answer) -> int:
    """The exit code of a question that came to ``answer``."""
    if answer.stop == "schema":
        return EXIT_NO_FIT
    if answer.limit or (answer.max_iterations_reached and not answer.broken):
        return EXIT_LIMIT
    return 1 if answer.broken else 0
