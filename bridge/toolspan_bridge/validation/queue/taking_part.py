"""A run as one worker takes part in it: only where it measures there what the run measures."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
import anyio.to_thread

from ...errors import StoreError, UsageError
from ...messages import ReasoningEffort
from .._clean import cut_text
from ..fingerprint import Fingerprint, toolspan_version
from ..runs.lanes import Served
from ..runs.one_trial import Fingerprints
from ..runs.plan import Plan
from ..storage.store import Store
from ..suites import Conversed, Scenario
from .connection import Queue
from .parcel import Parcel

__all__ = ["AskerOf", "AsksModels", "RunHere", "run_here"]

_LONGEST_PART = 60
_RUN = """
    SELECT parcel, usd, ended, extract(epoch FROM deadline - now())::float AS seconds
    FROM toolspan_queue_runs WHERE id = %(run)s
"""


class AsksModels(Protocol):
    """What asks models here, as ``Asker`` does."""

    async def ask(self, model: str, scenario: Scenario) -> Conversed: ...

    async def fingerprint(self, model: str) -> Fingerprint: ...

    async def served(self, model: str) -> Served: ...


@dataclass(frozen=True, slots=True)
class RunHere:
    """The run ``id`` at one worker: its ``plan``, what the queue has of it (``parcel``), the most that it may
    cost (``usd``), and until when, by this machine's clock, trials are made (``deadline``)."""

    id: str
    plan: Plan
    parcel: Parcel
    usd: float | None
    deadline: float
    asker: AsksModels
    fingerprints: Fingerprints

    async def check(self, model: str) -> None:
        """See to it that what ``model`` is measured by here is what the run measures it by.

        Raises ``UsageError`` where it is not, and as ``Asker.fingerprint``.
        """
        mine = await self.fingerprints.model(model)
        wanted = self.parcel.fingerprints.get(model)
        if wanted is None:
            return
        if other := mine.changed({name: value for name, value in wanted.items() if name != "suite"}):
            told = _differences(other, wanted, mine)
            raise UsageError(f"{model} would be measured by something else here: {told}")


async def run_here(queue: Queue, store: Store, run_id: str, tools: str, asker_of: AskerOf) -> RunHere:
    """The run of that id, for a worker whose tools have the hash ``tools``.

    Raises ``StoreError`` and ``UsageError`` where the worker cannot take part in it; as ``Queue.rows``.
    """
    found = await queue.rows(_RUN, {"run": run_id})
    if not found:
        raise StoreError(f"the queue has no run {run_id}")
    run = await anyio.to_thread.run_sync(store.run, run_id)
    if run is None:
        raise StoreError(f"its run is not in the store {store.place}: give the worker the --store of the run")
    _check_version(run.contents)
    parcel = Parcel.read(found[0]["parcel"])
    if parcel.tools != tools:
        raise UsageError("the tools of this worker are not those of the run: give it the same config")
    plan = parcel.plan(run.contents)
    asker = await asker_of(parcel.reasoning)
    seconds = found[0]["seconds"]
    deadline = math.inf if seconds is None else anyio.current_time() + seconds
    marks = Fingerprints(asker.fingerprint, plan.suite_hashes)
    return RunHere(run_id, plan, parcel, found[0]["usd"], deadline, asker, marks)


class AskerOf(Protocol):
    """What asks models that are to think so much."""

    def __call__(self, reasoning: ReasoningEffort | None) -> Awaitable[AsksModels]: ...


def _check_version(contents: Mapping[str, Any]) -> None:
    wanted, mine = contents.get("toolspan"), toolspan_version()
    if wanted != mine:
        raise UsageError(f"the run is of Toolspan {wanted}, this worker is {mine}: install the same version")


def _differences(names: tuple[str, ...], wanted: Mapping[str, str], mine: Fingerprint) -> str:
    parts = mine.as_dict()
    return "; ".join(f"{name} is {_told(parts[name])}, in the run {_told(wanted[name])}" for name in names)


def _told(part: str) -> str:
    return repr(cut_text(part, _LONGEST_PART)) if part else "not known"
