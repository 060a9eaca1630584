"""Batches that may have been created, though nobody was told: looked for before their requests are asked."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from pathlib import Path

import anyio

from ....batch import Batch, Intention, find_batch
from ....errors import UsageError
from ....providers import Provider
from .kept_batches import KeptBatches

__all__ = ["Earlier", "SoughtBatches"]

_SETTLED_S = 10.0
"""How long a request that creates a batch may be at work after its sender was killed."""

Earlier = MutableMapping[str, tuple[Path, Batch]]
"""Batches that other processes submitted for a run, with their files, by the ids of their requests."""


class SoughtBatches:
    """What was noted in ``kept``, and not kept as created. Those that are found are put into ``earlier``;
    ``say`` is told of each."""

    def __init__(self, kept: KeptBatches, earlier: Earlier, say: Callable[[str], None]) -> None:
        self._kept = kept
        self._earlier = earlier
        self._say = say
        self._noted: dict[str, tuple[Path, Intention]] = {}
        self._lock = anyio.Lock()

    def read(self) -> None:
        """See what was noted; a batch whose id a person put there is one of ``earlier``.

        Raises ``UsageError`` with what a person can do where it could not be found at its provider.
        """
        for path, intention in self._kept.intended():
            ids = intention.batch.ids
            if intention.batch.id:
                self._begun(path, intention.batch)
            elif not intention.mark:
                raise UsageError(_unknown(path, intention))
            else:
                self._noted.update(dict.fromkeys(ids, (path, intention)))

    async def settle(self, key: str, provider: Provider) -> None:
        """Where the request ``key`` may be in a batch at ``provider``, look whether it is. Raises as
        ``find_batch``."""
        if key not in self._noted:
            return
        async with self._lock:
            if key not in self._noted:
                return
            path, intention = self._noted[key]
            await anyio.sleep(max(0.0, min(_SETTLED_S, _SETTLED_S - intention.age)))
            batch = await find_batch(provider, intention)
            for each in intention.batch.ids:
                self._noted.pop(each, None)
            if batch is None:
                self._say(f"{_told(intention)} was not created: its requests are asked now")
                self._kept.drop(path)
            else:
                self._say(f"{_told(intention)} is there, {batch.id}, though its answer was lost: it is used")
                self._begun(path, batch)

    def _begun(self, intended: Path, batch: Batch) -> None:
        path = self._kept.keep(batch, intended)
        self._earlier.update(dict.fromkeys(batch.ids, (path, batch)))


def _told(intention: Intention) -> str:
    batch = intention.batch
    count = f"{len(batch.ids):,} request{'' if len(batch.ids) == 1 else 's'}"
    when = intention.at.isoformat(sep=" ", timespec="seconds")
    return f"the batch of {count} to {batch.provider}/{batch.model} of {when}"


def _unknown(path: Path, intention: Intention) -> str:
    name = intention.batch.provider
    return (
        f"{_told(intention)} may have been created, for it was never said that it was not; {name} lists its "
        "batches without anything to find it by. Look at that list: if it is there, write its id as the "
        f'"id" of "batch" into {path}; if it is not, delete that file, and the requests are asked (and paid) '
        "again"
    )
