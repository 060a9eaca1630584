"""The conversation of a chat."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ...loop import Question
from ...providers import Provider
from ...routes import Profile
from ...sessions.answering import made_ready
from ...sessions.asker import RoutedAsker
from ...sessions.chosen.approvals import LOCAL_PRINCIPAL, ApprovalChoice
from ...sessions.chosen.limits import LimitChoice
from ...sessions.costs import cost_data
from ...sessions.kept.saved_conversation import SavedConversation
from ...sessions.named.followed import follow_again
from ...sessions.named.mentions import Asked, with_mentions
from ..asking.named_files import named_files
from ..asking.options import AskOptions
from ..terminal.output import emit_json, print_note
from ..terminal.printing import printer_for
from ..terminal.screen.folded import Folded
from ..terminal.talk import talk
from .last_turn import LastTurn
from .servers import ServerHost

__all__ = ["Chat"]


@dataclass(slots=True)
class Chat:
    """One conversation, ``saved`` as it goes on. Its messages stay until ``/clear``; ``options``,
    ``approvals`` and ``limits`` apply to every question, the images among them only to the next one."""

    asker: RoutedAsker
    options: AskOptions
    saved: SavedConversation
    approvals: ApprovalChoice
    limits: LimitChoice
    profile: Profile
    host: ServerHost
    as_json: bool = False
    broken: bool = False
    """Whether an answer was no whole one, or a line no command."""
    unanswered: Asked | None = None
    """The last question, where nothing came of it."""
    draft: str = ""
    """What the next line of the person begins with."""
    folded: Folded = field(default_factory=Folded)
    """What was shown in short."""
    last_turn: LastTurn | None = None
    """What the last turn of an answer took."""
    keeps_lines: bool = True
    """Whether the person's lines are kept for later chats."""

    async def routed(self, line: str) -> tuple[Question, Provider]:
        """The question ``line`` as its route has it, and its provider."""
        options = self.options.in_conversation(self.saved.conversation.settings)
        return await self.asker.routed(
            line, options, profile=self.profile, conversation=self.saved.conversation
        )

    async def ask(self, line: str) -> None:
        """Answer the question ``line``. Raises what the provider raises."""
        mentioned = await with_mentions(line, self.asker.session.toolbox, follow=True)
        files = await named_files(line, self.asker.session)
        asked = replace(mentioned, parts=(*self.options.images, *mentioned.parts, *files))
        self.options = replace(self.options, images=())
        await self.answer(asked)

    async def follow_again(self) -> None:
        """Follow the resources that the conversation named before; say on stderr which have changed."""
        for text in await follow_again(self.saved.messages, self.asker.session.toolbox):
            print_note(text)

    async def answer(self, asked: Asked) -> None:
        """Answer ``asked``. Raises what the provider raises; it is ``unanswered`` then."""
        conversation = self.saved.conversation
        before, self.unanswered = len(conversation.messages), asked
        try:
            await self._answer(asked)
        finally:
            if len(conversation.messages) > before:
                self.unanswered = None

    async def _answer(self, asked: Asked) -> None:
        printer = printer_for(
            stream=self.options.stream, quiet=self.as_json, folded=self.folded, keep=self.saved.keep_file
        )
        ready = await made_ready(
            self.asker,
            asked,
            replace(self.options, images=()),
            self.saved,
            principal=LOCAL_PRINCIPAL,
            approvals=self.approvals,
            limits=self.limits,
            profile=self.profile,
        )
        agent, meter = ready.agent, ready.meter
        conversation = self.saved.conversation
        session = self.asker.session
        find = agent.spending.charging(self.asker.find, session.config.providers)
        session.client.use(agent.question, agent.provider, agent.approver, find)
        try:
            with self.saved.written():
                answer = await talk(
                    agent.question,
                    agent.provider,
                    agent.toolbox,
                    printer,
                    conversation,
                    meter,
                    agent.approver,
                    agent.spending,
                )
        finally:
            if meter.last is not None:
                self.last_turn = LastTurn.of(meter.last, conversation)
        self.broken = self.broken or answer.broken
        if self.as_json:
            cost = cost_data(meter.usd, conversation.usd, chat=True)
            emit_json({**answer.as_dict(), "cost": cost}, indent=None)
            return
        printer.answer(answer.content, answer.citations)
        printer.figures(answer, meter, conversation)
