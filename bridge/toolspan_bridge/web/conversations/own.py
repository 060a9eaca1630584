"""The conversations of one principal: made, listed, asked in, answered, cancelled, copied, removed."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from anyio import Lock, to_thread

from ...conversation.exports import EXPORTS
from ...conversation.journal import now
from ...errors import BusyError
from ...providers import own_providers, split_model
from ...sessions.kept.exported import exported
from ..activity import About, Activity, Recording
from ..activity.entry import moment
from ..pages import Page, page_of
from ..problems import Problem
from .details import Details
from .in_use import Using
from .live import LiveConversation, Posted
from .shelf import MemoryShelf, Shelf, Summary, shelf_of
from .shown import messages_of

if TYPE_CHECKING:
    from ...presets import Preset
    from .event_log import ConversationEvent
    from .limits import ConversationLimits
    from .run import Run

_T = TypeVar("_T")


class Runner(Protocol):
    """What answers in the background."""

    limits: ConversationLimits
    activity: Activity

    def start(self, live: LiveConversation, answer: Callable[[], Any]) -> None:
        """Answer. Raises ``Problem`` where too many are being answered."""
        ...


class OwnConversations:
    """The conversations of ``principal``. Those of others are not there: 404."""

    def __init__(self, principal: str, using: Using, runner: Runner, memory: dict[str, MemoryShelf]) -> None:
        self._principal = principal
        self._using = using
        self._runner = runner
        self._memory = memory
        self._live: dict[str, LiveConversation] = {}
        self._adding = Lock()

    @property
    def live(self) -> Sequence[LiveConversation]:
        """Those whose events are kept."""
        return [*self._live.values()]

    async def create(self, details: Details) -> dict[str, Any]:
        """A new conversation, as ``show`` has it. Raises ``UsageError`` for a model or preset that is
        none."""
        await self._check(details)
        shelf = await self._shelf()
        made = secrets.token_hex(16)
        async with self._adding:
            await self._check_room(shelf, 1)
            await _in_thread(shelf.keep, made, replace(details, created=now()))
        return await self.show(made)

    async def list(self, page: Page, search: str = "") -> dict[str, Any]:
        """``{"conversations": […], "next_cursor"}``, the one that was gone on with last first; with
        ``search`` those whose title holds it, in any case."""
        shelf = await self._shelf()
        every = await _in_thread(_titled, shelf, search) if search else await _in_thread(shelf.summaries)
        found, cursor = page_of(every, page, lambda each: (-each.changed, each.head.id))
        whole = await _in_thread(lambda: [shelf.find(each.head.id) for each in found])
        shown = [self._data(each) for each in whole if each is not None]
        return {"conversations": shown, "next_cursor": cursor}

    async def show(self, conversation_id: str) -> dict[str, Any]:
        """The whole conversation, with what is asked in it now, and the id of its last event."""
        shelf, summary = await self._found(conversation_id)
        live = self._alive(conversation_id)
        last = live.events.last
        log = await _in_thread(shelf.log, conversation_id)
        running = live.run is not None
        talk = log.conversation
        return self._data(summary) | {
            "messages": messages_of(log, running=running),
            "usd": talk.usd,
            "calls": talk.calls,
            "tokens": talk.tokens,
            "plan_mode": talk.plan_mode,
            "pending": [{"kind": each.kind, **each.data} for each in live.pending.open],
            "last_event_id": last,
        }

    async def change(self, conversation_id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Change its details; those of a question that is being answered stay as they were."""
        shelf, summary = await self._found(conversation_id)
        details = replace(summary.details, **changes)
        await self._check(details)
        await self._check_room(shelf)
        await _in_thread(shelf.keep, conversation_id, details)
        return await self.show(conversation_id)

    async def delete(self, conversation_id: str) -> None:
        """Remove it. Raises ``Problem`` while a question is being answered."""
        shelf, _ = await self._found(conversation_id)
        live = self._alive(conversation_id)
        if live.run is not None:
            raise Problem(409, "a question is being answered: cancel it first", "run_active")
        await _in_thread(_not_busy, shelf.delete, conversation_id)
        self._live.pop(conversation_id, None)
        live.events.close()

    async def post(self, conversation_id: str, posted: Posted, key: str = "") -> Run:
        """Ask; the answer comes as events. The same ``key`` gives the same run.

        Raises ``Problem`` while another question is being answered, and for a key of another question.
        """
        if len(posted.text) > self._runner.limits.text:
            raise Problem(422, f"a question has at most {self._runner.limits.text:,} characters")
        shelf, summary = await self._found(conversation_id)
        return await self._started(shelf, summary, posted, key)

    async def retry(self, conversation_id: str, model: str, key: str = "") -> Run:
        """Ask the last question again, of ``model`` for once if one is named."""
        shelf, summary = await self._found(conversation_id)
        return await self._started(shelf, summary, Posted("", (), model, again=True), key)

    async def cancel(self, conversation_id: str) -> dict[str, Any]:
        """End what is being answered, as Ctrl+C does, and wait for its end. ``{"cancelled"}``: whether
        something was."""
        await self._found(conversation_id)
        run = self._alive(conversation_id).run
        if run is None:
            return {"cancelled": False}
        run.stop()
        await run.over.wait()
        return {"cancelled": run.ended == "cancelled", "run": run.as_dict()}

    async def answer(self, conversation_id: str, request: str, posted: Mapping[str, Any]) -> None:
        """Answer what the person is asked. Raises ``Problem``."""
        await self._found(conversation_id)
        self._alive(conversation_id).pending.answer(request, posted)

    async def fork(self, conversation_id: str, questions: int | None) -> dict[str, Any]:
        """A copy of the first ``questions``, as ``show`` has it. Raises ``UsageError``."""
        shelf, summary = await self._found(conversation_id)
        async with self._adding:
            await self._check_room(shelf, 1, summary.size)
            made = await _in_thread(shelf.fork, conversation_id, questions)
        return await self.show(made)

    async def export(self, conversation_id: str, form: str) -> str:
        """It in another form (``EXPORTS``), without the config's secrets."""
        if form not in EXPORTS:
            raise Problem(422, f"there is no form {form[:40]!r} (there are: {', '.join(EXPORTS)})")
        shelf, _ = await self._found(conversation_id)
        async with self._using(self._principal) as used:
            log = await _in_thread(shelf.log, conversation_id)
            return await _in_thread(exported, log, form, used.session.config)

    async def events(self, conversation_id: str, last: int | None) -> AsyncGenerator[ConversationEvent]:
        """Its events after the one of the id ``last``, as they come; without it those of the latest run."""
        await self._found(conversation_id)
        live = self._alive(conversation_id)
        most = self._runner.limits.followers
        if live.events.followers >= most:
            raise Problem(429, f"{most} already follow this conversation", "too_many_followers")
        return live.events.after(last)

    async def _started(self, shelf: Shelf, summary: Summary, posted: Posted, key: str) -> Run:
        live = self._alive(summary.head.id)
        if (run := live.run_of(key, posted)) is not None:
            return run
        if live.run is not None:
            running = {"run": live.run.as_dict()}
            raise Problem(409, "a question is being answered: cancel it, or wait", "run_active", more=running)
        model = posted.model or summary.details.model
        await self._check(replace(summary.details, model=model))
        await self._check_room(shelf)
        if (run := live.run_of(key, posted)) is not None:  # meanwhile
            return run
        if live.run is not None:
            raise Problem(409, "a question is being answered: cancel it, or wait", "run_active")
        running_here = sum(each.run is not None for each in self._live.values())
        if running_here >= self._runner.limits.own_running:
            raise Problem(
                429, f"{running_here} questions of yours are being answered already", "too_many_running"
            )
        run = live.begin(key, posted)
        self._runner.start(
            live,
            partial(
                live.answer,
                self._principal,
                self._using,
                shelf,
                replace(summary.details, model=model),
                posted,
                self._preset,
                Recording(self._runner.activity, About(self._principal, "/api/conversations", group=run.id)),
            ),
        )
        return run

    async def _check_room(self, shelf: Shelf, more: int = 0, size: int = 0) -> None:
        """Raise ``Problem`` where ``shelf`` has no place for so many ``more``, or for ``size`` bytes more."""
        most = self._runner.limits.own
        if more and len(await _in_thread(shelf.summaries)) + more > most:
            raise Problem(
                409, f"there are {most:,} conversations already: delete some", "too_many_conversations"
            )
        used, room = await _in_thread(shelf.room)
        if room is not None and used + size >= room:
            why = f"your conversations take {used:,} bytes, and may take {room:,} (conversations.user_bytes)"
            raise Problem(507, f"{why}: delete some", "storage_full")

    async def _check(self, details: Details) -> None:
        """Raise ``UsageError`` where the model or the preset of ``details`` is none."""
        async with self._using(self._principal) as used:
            if details.model and not details.model.lower().startswith("best"):
                split_model(details.model, own_providers(used.session.config))
        if details.preset:
            await _in_thread(self._preset, details.preset)

    def _preset(self, name: str) -> Preset | None:
        """The principal's own preset of that name; those of others are not there. Raises ``UsageError``."""
        if not name:
            return None
        from ...presets import PresetStore

        return PresetStore(self._principal).get(name)

    async def _shelf(self) -> Shelf:
        async with self._using(self._principal) as used:
            return await _in_thread(shelf_of, used.session, self._principal, self._memory)

    async def _found(self, conversation_id: str) -> tuple[Shelf, Summary]:
        shelf = await self._shelf()
        summary = await _in_thread(shelf.find, conversation_id)
        if summary is None:
            raise Problem(404, f"there is no conversation {conversation_id[:64]!r}")
        return shelf, summary

    def _alive(self, conversation_id: str) -> LiveConversation:
        live = self._live.pop(conversation_id, None) or LiveConversation(conversation_id, self._runner.limits)
        self._live[conversation_id] = live  # the last one that was used stands last
        for name in [*self._live][: -self._runner.limits.remembered]:
            if self._live[name].is_idle:
                del self._live[name]
        return live

    def _data(self, summary: Summary) -> dict[str, Any]:
        head, details = summary.head, summary.details
        live = self._live.get(head.id)
        return {
            "id": head.id,
            "title": _title(summary),
            "created": head.created,
            "changed": moment(summary.changed),
            "model": details.model or head.model,
            "preset": details.preset or None,
            "system": details.system or None,
            "tools": None if details.tools is None else [*details.tools],
            "forked_from": head.forked_from or None,
            "bytes": summary.size,
            "run": live.run.as_dict() if live is not None and live.run is not None else None,
        }


def _title(summary: Summary) -> str:
    return summary.details.title or summary.head.title


def _titled(shelf: Shelf, search: str) -> list[Summary]:
    whole = (shelf.find(each.head.id) for each in shelf.summaries())
    wanted = search.casefold()
    return [each for each in whole if each is not None and wanted in _title(each).casefold()]


async def _in_thread(function: Callable[..., _T], *values: Any) -> _T:
    return await to_thread.run_sync(partial(function, *values))


def _not_busy(function: Callable[[str], None], conversation_id: str) -> None:
    try:
        function(conversation_id)
    except BusyError as busy:
        raise Problem(409, str(busy), "busy") from None
