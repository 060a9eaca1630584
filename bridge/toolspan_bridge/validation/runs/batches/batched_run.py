"""A run whose requests are asked by batches: what stands between it and its providers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from ....batch import Batch
from ....errors import AuthError
from ....messages import Reply, Request
from ....providers import Provider
from ....providers.http.retry import while_held_back
from ....providers.pool import Providers
from ...between import Between
from ...storage.trial import Trial
from ...suites import Conversed, Scenario
from ..attempt import Place
from ..events import RunBegan
from ..one_trial import AskModel
from .kept_batches import KeptBatches
from .providers import BatchedProviders
from .request_keys import RequestKeys
from .rounds import Rounds
from .sought import SoughtBatches
from .submitted import Submitted

__all__ = ["BatchedRun"]

_AT_ONCE = 1_000
_UNMEASURED = ("duration_ms", "ttft_ms")


class BatchedRun:
    """Asks the models of one run by batches. Their handles are kept in ``folder``, in a folder of the run,
    until ``forget``: a run that was ended finds its batches again, so that nothing is asked twice.

    ``between`` is for the ``Asker`` and ``validate``. ``say`` is told which batches are waited for, and how
    far they are.
    """

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._say = say
        self._keys = RequestKeys()
        self._earlier: dict[str, tuple[Path, Batch]] = {}
        self._rounds: dict[str, Rounds] = {}
        self._kept: KeptBatches | None = None
        self._sought: SoughtBatches | None = None
        self._pool: BatchedProviders | None = None

    @property
    def between(self) -> Between:
        """What stands between the run and its providers: all trials run at once, up to 1,000, and no time of
        theirs is kept, since most of it is that of the batch."""
        return Between(
            around=self._around,
            made=_without_times,
            asking=self._asking,
            on_begin=self._begin,
            is_resumed=True,
            at_once=_AT_ONCE,
        )

    async def check(self, models: Sequence[str]) -> None:
        """Raise ``UsageError`` where a provider of ``models`` has no batch service, within the block of the
        ``Asker``. A missing key is met by the trials of that model."""
        for model in models:
            try:
                await self._providers.get(model)
            except AuthError:
                continue

    @property
    def unfinished(self) -> Sequence[Submitted]:
        """The batches that were followed and had not ended."""
        followed = (each for rounds in self._rounds.values() for each in rounds.submitted)
        return tuple(each for each in followed if not each.has_ended)

    def forget(self) -> None:
        """Delete the handles: each trial has its outcome. Raises ``StoreError``."""
        if self._kept is not None:
            self._kept.forget()

    @property
    def _providers(self) -> BatchedProviders:
        if self._pool is None:
            raise AssertionError("an asker has the providers")
        return self._pool

    def _around(self, providers: Providers) -> Providers:
        self._pool = BatchedProviders(providers, self._answer)
        return self._pool

    def _begin(self, began: RunBegan) -> None:
        kept = self._kept = KeptBatches(self._folder / began.run)
        kept.check()
        for path, batch in kept.all():
            self._earlier.update(dict.fromkeys(batch.ids, (path, batch)))
        self._sought = SoughtBatches(kept, self._earlier, self._say)
        self._sought.read()

    def _asking(self, ask: AskModel) -> AskModel:
        async def asked(model: str, scenario: Scenario) -> Conversed:
            with self._rounds_of(model, await self._providers.inner(model)).taking_part():
                return await ask(model, scenario)

        return asked

    async def _answer(self, model: str, provider: Provider, request: Request) -> Reply:
        """The answer to a request of the current trial, whose time does not run meanwhile."""
        held_back = while_held_back.get()
        with held_back() if held_back else nullcontext():
            return await self._rounds_of(model, provider).answer(self._keys.key(request), request)

    def _rounds_of(self, model: str, provider: Provider) -> Rounds:
        if model not in self._rounds:
            if self._kept is None or self._sought is None:
                raise AssertionError("the run has begun before its first trial")
            tasks = self._providers.tasks
            self._rounds[model] = Rounds(provider, tasks, self._kept, self._earlier, self._sought, self._say)
        return self._rounds[model]


def _without_times(place: Place, trial: Trial) -> Trial:
    del place
    return replace(
        trial, details={name: item for name, item in trial.details.items() if name not in _UNMEASURED}
    )
