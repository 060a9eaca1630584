"""Which run a plan is made in: a new one, or the one that was begun and not finished."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from ..storage.run import Run
from ..storage.selections.selection import Selection
from ..storage.store import Store
from ..storage.trial import Trial, timestamp
from .plan import Plan

__all__ = ["Journal", "Resume", "begun", "changed"]

Resume = Literal["never", "unfinished", "fresh"]
"""Whether the unfinished run of the same plan is gone on with: never; if nothing has changed since; or not
this time, and it is closed."""


@dataclass(frozen=True, slots=True)
class Journal:
    """A run that has begun: its ``id``, the trials of it that were made before, and what is to be said."""

    id: str
    earlier: tuple[Trial, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def done(self) -> frozenset[int]:
        """The numbers that are not to be run again."""
        return frozenset(trial.number for trial in self.earlier)


@contextmanager
def begun(store: Store, plan: Plan, marks: Mapping[str, str], resume: Resume) -> Generator[Journal]:
    """The run in which ``plan`` is made, held for the block: no other process goes on with it meanwhile.

    ``marks`` are the digests of the models' fingerprints, as far as they are known. Raises ``StoreError``.
    """
    contents = {**plan.contents, "fingerprints": dict(marks)}
    with ExitStack() as held:
        journal = _unfinished(store, plan, contents, resume, held)
        if isinstance(journal, Journal):
            yield journal
            return
        run = Run(uuid4().hex, plan.digest, timestamp(), contents=contents)
        held.enter_context(store.hold(run.id))
        store.begin(run)
        yield Journal(run.id, notes=journal)


def _unfinished(
    store: Store, plan: Plan, contents: Mapping[str, Any], resume: Resume, held: ExitStack
) -> Journal | tuple[str, ...]:
    """The run to go on with; else what is to be said of one that is there and is not gone on with."""
    found = None if resume == "never" else store.unfinished(plan.digest)
    if found is None:
        return ()
    if not held.enter_context(store.hold(found.id)):
        return (f"the unfinished run of {found.started} is at work in another process: this is a new run",)
    why = "--fresh" if resume == "fresh" else changed(found.contents, contents)
    if not why:
        return _again(store, plan, found)
    store.finish(found.id)
    return (f"the unfinished run of {found.started} is not gone on with ({why}): this is a new run",)


def _again(store: Store, plan: Plan, found: Run) -> Journal:
    mine = store.stream(Selection(run=found.id))
    earlier = tuple(trial for trial in mine if 1 <= trial.number <= len(plan))
    note = (
        f"goes on with the unfinished run of {found.started}: {len(earlier):,} of {len(plan):,} trials are "
        "done (--fresh starts a new one)"
    )
    return Journal(found.id, earlier, (note,))


def changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What has changed since the plan ``before`` was begun, in words; empty where nothing has."""
    if before.get("toolspan") != now["toolspan"]:
        return f"Toolspan was {before.get('toolspan')}, it is {now['toolspan']}"
    hashes: Mapping[str, str] = before.get("suites", {})
    if other := [name for name, mark in now["suites"].items() if hashes.get(name) != mark]:
        return f"the suite {other[0]} has changed"
    marks: Mapping[str, str] = before.get("fingerprints", {})
    both = [model for model in now["fingerprints"] if model in marks]
    if other := [model for model in both if marks[model] != now["fingerprints"][model]]:
        return f"the tools, or the settings or version of {other[0]}, have changed"
    return ""
