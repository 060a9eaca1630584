"""The rounds of a model: the requests of all its running trials are one batch, as soon as each waits."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from ....batch import Intention, parts_of, submit_batch, was_refused
from ....errors import AuthError, BridgeError, ProviderError, UnknownModelError, UnreachableError, UsageError
from ....messages import Reply, Request
from ....providers import Provider
from .kept_batches import KeptBatches
from .sought import Earlier, SoughtBatches
from .submitted import Submitted

__all__ = ["Rounds"]

_SETTLED_S = 0.05
"""How long all trials wait before a batch is submitted: where one ended, the next one begins in that time."""


@dataclass(slots=True)
class _Waiting:
    """A request that is to be in the next batch, and what came of submitting it."""

    request: Request
    submitted: anyio.Event = field(default_factory=anyio.Event)
    outcome: Submitted | Exception | None = None

    def put(self, outcome: Submitted | Exception) -> None:
        self.outcome = outcome
        self.submitted.set()


class Rounds:
    """Asks ``provider`` the requests of one model by batches, which are ``kept``; ``tasks`` follow them, and
    ``say`` is told of them. ``earlier`` has the batches that other processes submitted for the run, with
    their files, by the ids of their requests, and ``sought`` those that may be among them."""

    def __init__(
        self,
        provider: Provider,
        tasks: TaskGroup,
        kept: KeptBatches,
        earlier: Earlier,
        sought: SoughtBatches,
        say: Callable[[str], None],
    ) -> None:
        self.submitted: list[Submitted] = []
        self._provider = provider
        self._tasks = tasks
        self._kept = kept
        self._earlier = earlier
        self._sought = sought
        self._known: dict[Path, Submitted] = {}
        self._say = say
        self._running = 0
        self._idle = 0
        self._waiting: dict[str, _Waiting] = {}

    @contextmanager
    def taking_part(self) -> Generator[None]:
        """A trial runs in the block: no batch is submitted before it waits too, or has ended."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._look()

    async def answer(self, key: str, request: Request) -> Reply:
        """The answer to ``request``, of an earlier batch or the next one. Raises as ``Provider.answer``; an
        error of the single request is a ``ProviderError``."""
        await self._sought.settle(key, self._provider)
        self._idle += 1
        try:
            return await self._from_earlier(key) or await self._asked(key, request)
        finally:
            self._idle -= 1

    async def _from_earlier(self, key: str) -> Reply | None:
        """The answer of an earlier batch; ``None`` where none has it, and after an error."""
        if key not in self._earlier:
            return None
        path, batch = self._earlier[key]
        if path not in self._known:
            self._known[path] = Submitted(self._provider, batch, path, self._say)
            self._follow(self._known[path])
        self._look()
        try:
            found = await self._known[path].answer(key)
        except (AuthError, UnreachableError):
            raise
        except BridgeError as fault:
            self._say(f"{self._known[path].name} gives no answers ({fault.message}): it is asked again")
            return None
        return found if isinstance(found, Reply) else None

    async def _asked(self, key: str, request: Request) -> Reply:
        """The answer of the next batch."""
        waiting = self._waiting[key] = _Waiting(request)
        self._look()
        try:
            await waiting.submitted.wait()
        finally:
            if self._waiting.get(key) is waiting:  # given up before it was submitted
                del self._waiting[key]
        if not isinstance(waiting.outcome, Submitted):
            raise waiting.outcome or AssertionError("a submitted request has an outcome")
        answer = await waiting.outcome.answer(key)
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, AuthError | UnknownModelError):
            raise answer
        raise ProviderError(answer.message)  # it says nothing about the other requests

    def _look(self) -> None:
        """Submit what waits, if everyone does and still does in a moment."""
        if self._is_whole:
            self._tasks.start_soon(self._submit)

    @property
    def _is_whole(self) -> bool:
        return bool(self._waiting) and self._idle >= self._running

    async def _submit(self) -> None:
        await anyio.sleep(_SETTLED_S)
        if not self._is_whole:
            return
        taken, self._waiting = self._waiting, {}
        try:
            parts = await parts_of(self._provider, {key: each.request for key, each in taken.items()})
        except BridgeError as fault:
            _put(taken.values(), fault)
            return
        for part in parts:
            await self._submit_part({key: taken[key] for key in part})

    async def _submit_part(self, part: Mapping[str, _Waiting]) -> None:
        try:
            with anyio.CancelScope(shield=True):  # what was submitted is kept, whatever comes
                self._begun(await self._created({key: each.request for key, each in part.items()}), part)
        except UsageError as fault:  # a request that is no batch's, such as a far too large one
            _put(part.values(), ProviderError(fault.message))
        except BridgeError as fault:
            _put(part.values(), fault)

    async def _created(self, requests: Mapping[str, Request]) -> Submitted:
        """A new batch, kept; what is noted of it before stays where it may have been created unheard."""
        noted: list[Path] = []

        def intend(intention: Intention) -> None:
            noted.append(self._kept.intend(intention))

        try:
            batch = await submit_batch(self._provider, requests, intend=intend)
        except BridgeError as fault:
            for path in noted:
                if was_refused(fault):
                    self._kept.drop(path)
            raise
        return Submitted(self._provider, batch, self._kept.keep(batch, noted[0]), self._say)

    def _begun(self, submitted: Submitted, part: Mapping[str, _Waiting]) -> None:
        count = f"{len(part):,} request{'' if len(part) == 1 else 's'}"
        self._say(f"{submitted.name}: submitted with {count}; it may take up to a day")
        self._follow(submitted)
        _put(part.values(), submitted)

    def _follow(self, submitted: Submitted) -> None:
        self.submitted.append(submitted)
        self._tasks.start_soon(submitted.follow)


def _put(waiting: Iterable[_Waiting], outcome: Submitted | Exception) -> None:
    for each in waiting:
        each.put(outcome)
