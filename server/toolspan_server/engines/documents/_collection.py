"""One collection, alive."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread

from ...errors import ToolFailure
from ._folder import DocumentFolder
from ._globs import Selection
from ._search_result import SearchResult
from ._terms import terms

if TYPE_CHECKING:
    from ._index import DamagedIndex
    from ._index_updater import IndexUpdater, UpdateOutcome

_T = TypeVar("_T")


class Collection:
    """The documents under ``root`` that ``include`` and ``exclude`` select; searchable while ``run`` runs.

    Its index is a folder of its own in ``state_dir``. ``revision`` counts the looks at the documents
    that were finished; ``latest`` is the last one's outcome.
    """

    def __init__(
        self, name: str, root: Path, state_dir: Path, *, include: Sequence[str], exclude: Sequence[str] = ()
    ) -> None:
        self.tree = DocumentFolder(name, root, Selection(include, (*exclude, *_own_folder(root, state_dir))))
        self.revision = 0
        self.latest: UpdateOutcome | None = None
        self._folder = state_dir / f"{name}-{_digest(root, include, exclude)}"
        self._keeper: IndexUpdater | None = None
        self._turned = anyio.Event()

    async def run(self) -> None:
        """Index what is new or changed, then stay current until cancelled. No thread outlives it."""
        stop = Event()
        async with anyio.create_task_group() as group:
            group.start_soon(_set_at_end, stop)
            await anyio.to_thread.run_sync(self._keep, stop, limiter=anyio.CapacityLimiter(1))

    async def changed(self, since: int = 0) -> int:
        """Wait until ``revision`` is higher than ``since``; gives it."""
        while self.revision <= since:
            await self._turned.wait()
        return self.revision

    async def search(self, query: str, limit: int) -> SearchResult:
        """The best passages for ``query``. Waits for the first indexing; later finds what was last indexed.

        Raises ``ToolFailure`` when the collection's folder or index cannot be used.
        """
        from ._index import DamagedIndex

        words = terms(query)
        await self.changed()
        self._require_usable()
        revision = self.revision
        try:
            return await self._ask(words, limit)
        except DamagedIndex as damage:
            self._distrust(damage)
        await self.changed(revision)
        self._require_usable()
        try:
            return await self._ask(words, limit)
        except DamagedIndex as damage:
            raise self._unavailable("its index is damaged", str(damage)) from damage

    async def _ask(self, words: list[str], limit: int) -> SearchResult:
        import sqlite3

        from ._search import search

        if not words:
            return SearchResult(0, ())
        try:
            return await _abandonable(partial(search, self._folder, words, limit))
        except (sqlite3.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise self._unavailable("its index cannot be read", reason) from error

    def _require_usable(self) -> None:
        if self.latest is not None and self.latest.problem:
            raise self._unavailable(self.latest.problem, self.latest.detail)

    def _unavailable(self, problem: str, detail: str = "") -> ToolFailure:
        return ToolFailure(
            f"Collection '{self.tree.name}' cannot be searched: {problem}",
            detail=detail,
            error_code="collection_unavailable",
            user_action=f"Check services.collections.{self.tree.name} in the config, and the server's log.",
        )

    def _distrust(self, damage: DamagedIndex) -> None:
        if self._keeper is not None:
            self._keeper.distrust(damage)

    def _keep(self, stop: Event) -> None:
        from ._index_updater import IndexUpdater

        self._keeper = IndexUpdater(self.tree, self._folder, stop)
        self._keeper.keep(self._report)

    def _report(self, done: UpdateOutcome) -> None:
        anyio.from_thread.run_sync(self._turn, done)

    def _turn(self, done: UpdateOutcome) -> None:
        self.latest = done
        self.revision += 1
        self._turned.set()
        self._turned = anyio.Event()


def _own_folder(root: Path, state_dir: Path) -> list[str]:
    """A glob of ``state_dir`` when it is inside ``root``, where it must not look like documents."""
    inside, folder = state_dir.resolve(), root.resolve()
    return [glob.escape(inside.relative_to(folder).as_posix())] if inside.is_relative_to(folder) else []


def _digest(root: Path, include: Sequence[str], exclude: Sequence[str]) -> str:
    """Two configs may share a state folder: all that decides an index's content is part of its name."""
    identity = json.dumps([os.fsencode(root).hex(), sorted(include), sorted(exclude)])
    return hashlib.blake2b(identity.encode(), digest_size=6).hexdigest()


async def _set_at_end(stop: Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        stop.set()


async def _abandonable(ask: Callable[[Event], _T]) -> _T:
    """Run ``ask`` in a thread; when the caller is cancelled, the thread gets a signal and is not awaited."""
    stop = Event()
    try:
        return await anyio.to_thread.run_sync(ask, stop, abandon_on_cancel=True)
    finally:
        stop.set()
