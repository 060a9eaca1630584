"""A conversation whose events are kept, and in which a question may be going on."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from ...conversation.retry import last_question, without_last_question
from ...messages import Part, ToolResults
from ...sessions.named.mentions import Asked
from ..problems import Problem
from .event_log import EventLog
from .host import ConversationHost
from .pending import PendingRequests
from .run import Answering, Run, beside, told

if TYPE_CHECKING:
    from ...presets import Preset
    from ..activity import Recording
    from .details import Details
    from .in_use import Using
    from .limits import ConversationLimits
    from .shelf import Shelf

PresetOf = Callable[[str], "Preset | None"]
_MOST_KEYS = 100


@dataclass(frozen=True, slots=True)
class Posted:
    """A question: its ``text``, the ``parts`` that go with it, and the ``model`` that answers it, empty for
    that of the conversation. ``again``: it is the last one, asked again."""

    text: str
    parts: tuple[Part, ...] = ()
    model: str = ""
    again: bool = False


class LiveConversation:
    """The conversation of that ``id``: its ``events``, and what the person is asked in it (``pending``)."""

    def __init__(self, id: str, limits: ConversationLimits) -> None:
        self.id = id
        reset = {"conversation": id, "read": f"/api/conversations/{id}"}
        self.events = EventLog(limits.events, limits.event_characters, reset)
        self.pending = PendingRequests()
        self.run: Run | None = None
        self._runs: dict[str, tuple[Posted, Run]] = {}
        """The runs that were begun with an Idempotency-Key."""
        self._unanswered: Posted | None = None
        """The last question, where nothing came of it."""

    @property
    def is_idle(self) -> bool:
        """Whether nobody uses it."""
        return self.run is None and not self.events.followers

    def run_of(self, key: str, posted: Posted) -> Run | None:
        """The run that was begun with ``key``, if one was. Raises ``Problem`` where it was for another
        question."""
        if key not in self._runs:
            return None
        known, run = self._runs[key]
        if known != posted:
            raise Problem(422, "this Idempotency-Key was used for another question", "key_reused")
        return run

    def begin(self, key: str, posted: Posted) -> Run:
        """The run of the next question, which ``answer`` is to be called for."""
        self.run = Run()
        if key:
            self._runs[key] = (posted, self.run)
            while len(self._runs) > _MOST_KEYS:
                del self._runs[next(iter(self._runs))]
        self.events.begin_run()
        return self.run

    async def answer(
        self,
        principal: str,
        using: Using,
        shelf: Shelf,
        details: Details,
        posted: Posted,
        preset_of: PresetOf,
        recording: Recording,
    ) -> None:
        """Answer ``posted`` for ``principal`` and tell its events; whatever comes of it, ``run_ended`` is the
        last one. ``preset_of`` gives the preset of a name; ``recording`` records it."""
        assert self.run is not None
        run = self.run
        tell = partial(self._tell, run)
        try:
            with told(run, tell, posted.text, posted.parts, again=posted.again):
                async with using(principal) as used:
                    host = ConversationHost(used.session.host, principal, tell, self.pending)
                    saved = await to_thread.run_sync(shelf.opened, self.id, host)
                    with saved.closed_afterwards(used.session):
                        preset = await to_thread.run_sync(preset_of, details.preset)
                        asker = beside(used.asker, host)
                        saved.conversation.settings = details.settings()
                        answering = Answering(
                            asker, saved, host, tell, preset, details.model, recording, principal
                        )
                        await self._answered(answering, posted)
                    await to_thread.run_sync(shelf.keep, self.id, replace(details, begun=True))
        finally:
            self.run = None

    def _tell(self, run: Run, name: str, data: dict[str, Any]) -> None:
        self.events.add(name, {"run": run.id, **data})

    async def _answered(self, answering: Answering, posted: Posted) -> None:
        conversation = answering.saved.conversation
        before = len(conversation.messages)
        with answering.saved.written():
            if not posted.again:
                self._unanswered = posted
                try:
                    await answering.answer(Asked(posted.text, posted.parts))
                finally:
                    if len(conversation.messages) > before:
                        self._unanswered = None
            elif self._unanswered is not None:
                await self._answered(answering, replace(self._unanswered, model=posted.model))
            else:
                with self._again(answering) as asked:
                    await answering.answer(asked)

    @contextmanager
    def _again(self, answering: Answering) -> Generator[Asked]:
        """The last question, which is not in the conversation in the block. Raises ``UsageError``."""
        conversation = answering.saved.conversation
        _, question = last_question(conversation)
        with without_last_question(conversation) as dropped:
            conversation.note("retry", {"messages": len(dropped)})
            if any(isinstance(message, ToolResults) for message in dropped):
                answering.host.note("what its calls did stays done")
            yield Asked.again(question)
