"""One question of a conversation while it is answered."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Generator, Sequence
from contextlib import AsyncExitStack, aclosing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import anyio

from toolspan_server.errors import ConfigError

from ...errors import BridgeError
from ...events import (
    ElicitationAnswer,
    ElicitationRequest,
    End,
    Event,
    ToolApprovalAnswer,
    ToolApprovalRequest,
)
from ...loop import LimitReached, run
from ...sessions.answering import made_ready
from ...sessions.asker import RoutedAsker
from ...sessions.chosen.approvals import ApprovalChoice
from ...sessions.chosen.limits import LimitChoice
from ...sessions.chosen.question import QuestionOptions
from ...sessions.event_data import named_event
from ...sessions.named.mentions import Asked, with_mentions
from ...sessions.preset_session import with_calculator
from .shown import part_data
from .thoughts import Thoughts

if TYPE_CHECKING:
    from ...messages import Part
    from ...presets import Preset
    from ...sessions.kept.saved_conversation import SavedConversation
    from ..activity import Recording
    from .host import ConversationHost, Tell

_log = logging.getLogger(__name__)
Ended = Literal["answered", "failed", "cancelled"]


@dataclass(eq=False, slots=True)
class Run:
    """The answering of one question. ``stop`` ends it as Ctrl+C does: the conversation stays consistent, and
    every call in it has a result."""

    id: str = field(default_factory=lambda: secrets.token_hex(8))
    ended: Ended | None = None
    over: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    def stop(self) -> None:
        """Cancel it."""
        self.scope.cancel()

    def as_dict(self) -> dict[str, Any]:
        """``{"id", "state"}``: ``running``, or how it ended."""
        return {"id": self.id, "state": self.ended or "running"}


@contextmanager
def told(current: Run, tell: Tell, text: str, parts: Sequence[Part] = (), *, again: bool) -> Generator[None]:
    """What is raised in the block is told as ``error`` or ``cancelled``; ``run_started`` and ``run_ended``
    are around all."""
    files = {"attachments": [part_data(part) for part in parts]} if parts else {}
    tell("run_started", {"again": True} if again else {"text": text, **files})
    ended: Ended = "failed"
    try:
        with current.scope:
            yield
            ended = "answered"
        if current.scope.cancelled_caught:
            ended = "cancelled"
    except anyio.get_cancelled_exc_class():
        ended = "cancelled"
        raise
    except Exception as error:
        tell("error", _described(error))
    finally:
        current.ended = ended
        if ended == "cancelled":
            tell("cancelled", {})
        tell("run_ended", {"state": ended})
        current.over.set()


def _described(error: Exception) -> dict[str, str]:
    if isinstance(error, BridgeError):
        return {"code": error.code, "message": error.message}
    if isinstance(error, ConfigError):
        return {"code": "bad_config", "message": str(error)}
    _log.error("a question of a conversation failed", exc_info=error)
    return {"code": "unexpected", "message": f"{type(error).__name__} (the server's log says more)"}


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers in the conversation of ``saved`` with ``asker``, whose session has the ``host`` of the
    conversation, and tells every event."""

    asker: RoutedAsker
    saved: SavedConversation
    host: ConversationHost
    tell: Tell
    preset: Preset | None
    model: str
    recording: Recording
    principal: str
    thoughts: Thoughts = field(default_factory=Thoughts)

    async def answer(self, asked: Asked) -> None:
        """Answer ``asked``. Raises what the provider raises."""
        async with AsyncExitStack() as stack:
            with self.recording.preparing(self.model):
                with_own = with_calculator(self.preset, self.asker.session, self.host)
                session = await stack.enter_async_context(with_own)
            is_other = session is not self.asker.session
            await self._answer(RoutedAsker(session, beside=self.asker) if is_other else self.asker, asked)

    async def _answer(self, asker: RoutedAsker, asked: Asked) -> None:
        session = asker.session
        with self.recording.preparing(self.model):
            options = QuestionOptions(self.model or None, stream=True, preset=self.preset)
            whole = asked
            if asked.typed is None:  # else it is asked again, with what it named
                mentioned = await with_mentions(asked.text, session.toolbox)
                whole = replace(mentioned, parts=(*asked.parts, *mentioned.parts))
            ready = await made_ready(
                asker,
                whole,
                options,
                self.saved,
                principal=self.principal,
                approvals=ApprovalChoice(),
                limits=LimitChoice(),
            )
        agent = ready.agent
        find = agent.spending.charging(asker.find, session.config.providers)
        sampler = session.client.sampler_for(agent.question, agent.provider, agent.approver, find)
        events = run(
            agent.question,
            agent.provider,
            agent.toolbox.answering(self.host.elicitor(), sampler),
            self.saved.conversation,
            approver=agent.approver,
            pricing=ready.meter.pricing,
            at_limit=self._limit,
            spending=agent.spending,
        )
        pricing = ready.meter.pricing
        watched = self.recording.watched(events, agent.question, ready.provider, pricing)
        async with aclosing(watched):
            async for event in watched:
                ready.meter.take(event)
                self.thoughts.take(event, self.saved.conversation)
                self._event(event, ready.meter.usd)

    def _event(self, event: Event, usd: float | None) -> None:
        if isinstance(event, ToolApprovalRequest | ElicitationRequest | ElicitationAnswer):
            return  # who is asked tells it, with the id under which it is answered
        if isinstance(event, ToolApprovalAnswer) and event.approval.decider == "person":
            return
        name, data = named_event(event)
        if isinstance(event, End):
            data["cost"] = {"usd": usd}
        self.tell(name, data)

    async def _limit(self, reached: LimitReached) -> Literal["wrap_up", "stop"]:
        choice: Literal["wrap_up", "stop"] = "wrap_up" if reached.has_room else "stop"
        self.tell("limit", {"limit": reached.key, "text": reached.text, "then": choice})
        return choice


def beside(asker: RoutedAsker, host: ConversationHost) -> RoutedAsker:
    """An asker over what ``asker`` keeps open, for a conversation with that ``host``."""
    return RoutedAsker(replace(asker.session.acting_for(host.principal), host=host), beside=asker)
