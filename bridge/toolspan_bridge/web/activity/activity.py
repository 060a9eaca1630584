"""The activity log of a running app: written beside the work, never in its way."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from toolspan_server.common.secrets.key_shapes import without_keys
from toolspan_server.common.supervision import kept, report_failure

from ...errors import StoreError
from ...events import Event
from ...providers.deployments import on_tried
from ...providers.prices import Pricing
from ...providers.wire.replies import on_left_out
from .entry import About, Entry
from .watch import RunWatch

if TYPE_CHECKING:
    from .log import ActivityLog, Filter
    from .summary import Summary

__all__ = ["Activity", "Began", "Told"]

_log = logging.getLogger("toolspan.activity")
_MOST_WAITING = 10_000
_MOST_AT_ONCE = 500
_GATHER_SECONDS = 0.25
_MOST_READ = 10_000
"""Characters of an error's words that are looked at for secrets; 500 are kept."""
"""How long entries are gathered for one write."""
_POLL_SECONDS = 1.0
_PAGE = 200


@dataclass(frozen=True, slots=True)
class Began:
    """When something began: in seconds since 1970, and by a clock that never jumps."""

    at: float = field(default_factory=time.time)
    counter: float = field(default_factory=time.perf_counter)


@dataclass(frozen=True, slots=True)
class Told:
    """An entry as an event of a stream."""

    id: int
    data: dict[str, Any]
    name: str = "activity"


class Activity:
    """Records in ``store``, or nothing where it is ``None``. ``redact`` takes the config's secrets out of
    texts; ``texts`` keeps questions, answers, arguments and results too.

    Entries wait in memory until they are written, up to 10,000: of more, the new ones are dropped, and the
    log says how many.
    """

    def __init__(
        self, store: ActivityLog | None, redact: Callable[[str], str] = str, *, texts: bool = False
    ) -> None:
        self._store = store
        self._redact = redact
        self._texts = texts
        self._waiting: list[Entry] = []
        self._dropped = 0
        self._more = anyio.Event()
        self._written = anyio.Event()

    def record(self, entry: Entry) -> None:
        """Have ``entry`` written, soon."""
        if self._store is None:
            return
        if len(self._waiting) >= _MOST_WAITING:
            self._dropped += 1
            return
        self._waiting.append(entry)
        self._more.set()

    def watch(
        self,
        about: About,
        *,
        model: str,
        provider: str,
        question: str = "",
        pricing: Pricing | None = None,
    ) -> RunWatch:
        """What follows a run of ``model`` at ``provider``: for ``watched``."""
        return RunWatch(about, model, provider, self._clean, self._texts, question, pricing)

    async def watched(self, events: AsyncGenerator[Event], watch: RunWatch) -> AsyncGenerator[Event]:
        """The ``events`` of a run, as they come; the run and each of its calls is recorded, however it
        ends."""
        before = on_tried.get(), on_left_out.get()
        on_tried.set(watch.tried.append)
        on_left_out.set(watch.left_out.append)
        error: BaseException | None = None
        try:
            async with aclosing(events):
                async for event in events:
                    for entry in watch.seen(event):
                        self.record(entry)
                    yield event
        except Exception as caught:
            error = caught
            raise
        finally:
            self.record(watch.ended(error))
            on_tried.set(before[0])
            on_left_out.set(before[1])

    def calls(self, about: About) -> Callable[[Event], None]:
        """Takes the events of calls that are made without a model, and records each."""
        watch = self.watch(about, model="", provider="")

        def take(event: Event) -> None:
            for entry in watch.seen(event):
                self.record(entry)

        return take

    def refused(self, about: About, began: Began, why: tuple[str, str], model: str = "") -> None:
        """Record a request for ``model``, written ``provider/model``, that failed before any model was asked;
        ``why`` is a code, and words."""
        code, words = why
        self.requested(
            about, began, model, status="error", error_code=code, error=self._clean(words[:_MOST_READ])[:500]
        )

    def requested(self, about: About, began: Began, model: str = "", **more: Any) -> None:
        """Record a request that asked no model; ``more`` are members of its ``Entry``."""
        provider, slash, name = model.partition("/")
        if not slash:
            provider, name = "", model
        took = round((time.perf_counter() - began.counter) * 1_000, 3)
        values: dict[str, Any] = {"total_ms": took, "usd": 0.0, **more}
        self.record(Entry("request", began.at, about, name, provider, **values))

    async def listed(self, wanted: Filter, before: int | None, most: int) -> list[Entry]:
        """As ``ActivityLog.listed``, with all that was recorded until now; nothing where none is kept."""
        store = self._store
        if store is None:
            return []
        await self.flush()
        return await to_thread.run_sync(store.listed, wanted, before, most)

    async def summary(self, since: float, until: float, principal: str | None = None) -> Summary:
        """As ``ActivityLog.summary``."""
        from .summary import summary_of

        store = self._store
        if store is None:
            return summary_of((), since, until)
        await self.flush()
        return await to_thread.run_sync(store.summary, since, until, principal)

    async def follow(self, last: int | None, principal: str | None = None) -> AsyncGenerator[Told]:
        """The entries, of all or one principal, after the id ``last`` as they are written, by whatever
        process; without it, those to come."""
        store = self._store
        if store is None:
            await anyio.sleep_forever()
            return
        seen = await to_thread.run_sync(lambda: store.last) if last is None else last
        while True:
            written = self._written
            found = await to_thread.run_sync(store.after, seen, _PAGE)
            for entry in found:
                seen = entry.id
                if principal in (None, entry.about.principal):
                    yield Told(entry.id, entry.as_dict())
            if not found:
                with anyio.move_on_after(_POLL_SECONDS):  # another process may have written
                    await written.wait()

    async def flush(self) -> None:
        """Write what waits. What cannot be written is dropped, and the program's log says so."""
        while self._waiting and self._store is not None:
            batch, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
            try:
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(self._store.append, batch)
            except StoreError as error:
                _log.warning("%d entries of the activity log are lost: %s", len(batch), error.message)
            except Exception as error:
                report_failure("the activity log", error, f"{len(batch)} entries are lost")
            if self._dropped:
                _log.warning("%d entries of the activity log came too fast, and are lost", self._dropped)
                self._dropped = 0
            written, self._written = self._written, anyio.Event()
            written.set()

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[None]:
        """Write what is recorded until the block ends, all of it."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(kept("the activity log", self._write))
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                await self.flush()

    async def _write(self) -> None:
        while True:
            await self._more.wait()
            await anyio.sleep(_GATHER_SECONDS)
            self._more = anyio.Event()
            await self.flush()

    def _clean(self, text: str) -> str:
        return without_keys(self._redact(text), lambda what, value: "***")
