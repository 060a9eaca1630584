"""The definitions that tools are held to: the locked ones, else those of the beginning of the session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolspan_server.engines.upstreams import ListedTool

from ..approvals import Departure, definition_of
from .drift import Drift, is_same
from .lock_file import LOCK_FILE, Definitions

ACCEPT = "accept it with toolspan lock"


class Baseline:
    """``locked`` are the definitions in the lock file, ``None`` where there is none; ``first`` those that the
    servers listed when the session began. ``strict``: what is not locked as it is now is never called.
    """

    def __init__(
        self, first: Definitions, locked: Definitions | None = None, *, strict: bool = False
    ) -> None:
        self._first = first
        self._locked = locked
        self._strict = strict

    def with_own(self, own: Definitions) -> Baseline:
        """The same beside the definitions ``own``, of servers that are part of this program: they are held to
        these, and no lock file has to name them."""
        locked = None if self._locked is None else {**self._locked, **own}
        return Baseline({**self._first, **own}, locked, strict=self._strict)

    def departure(self, server: str, tool: ListedTool) -> Departure | None:
        """How ``tool``, as ``server`` lists it now, differs from what it is held to; ``None`` if it does not.

        A tool that no server lists, as one that is performed here, is held to nothing.
        """
        if not tool.fingerprint.digest:
            return None
        now = definition_of(tool)
        if self._locked is not None and (self._strict or server in self._locked):
            drift = Drift(server, tool.name, self._locked.get(server, {}).get(tool.name), now)
            return self._from_lock(drift)
        before = self._first.get(server, {}).get(tool.name)
        if before is None or is_same(before, now):
            return None
        return Departure(before, "this session began", "its server has changed its definition meanwhile")

    def _from_lock(self, drift: Drift) -> Departure | None:
        before: Mapping[str, Any] | None = drift.before
        if before is not None and drift.now is not None and is_same(before, drift.now):
            return None
        remedy = f"--locked refuses it: look at it with toolspan lock --check, {ACCEPT}"
        reason = (
            f"it is not in {LOCK_FILE}" if before is None else f"its definition is not the one in {LOCK_FILE}"
        )
        return Departure(before, "the lock was written", reason, remedy if self._strict else "")
