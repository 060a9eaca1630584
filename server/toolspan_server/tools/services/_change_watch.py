"""Detects that an upstream's tools are defined differently than before, in this run or an earlier one."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from ...common.slices import some
from ...engines.definitions import Change, Definitions, DefinitionsFile

if TYPE_CHECKING:
    from ...engines.upstreams import Listing

_log = logging.getLogger(__name__)
_SHOWN = 20


class ChangeWatch:
    """Compares each listing of the upstream ``name`` with the one stored in ``file``, stores it, and warns.

    The first listing of all is accepted. ``changes`` are the latest ones, the newest last.
    """

    def __init__(self, name: str, file: DefinitionsFile) -> None:
        self.changes: Sequence[Mapping[str, Any]] = ()
        self._name = name
        self._file = file
        self._latest: Listing | None = None
        self._came = anyio.Event()

    def listed(self, listing: Listing) -> None:
        """Schedule a comparison of ``listing``."""
        self._latest = listing
        self._came.set()

    async def run(self) -> None:
        """Compare each listing, until cancelled."""
        known = await anyio.to_thread.run_sync(self._read)
        self.changes = known.changes[-_SHOWN:]
        while True:
            await self._came.wait()
            self._came = anyio.Event()
            if (listing := self._latest) is not None:
                self._log_changes(await anyio.to_thread.run_sync(self._compare, known, listing))
                self.changes = known.changes[-_SHOWN:]

    def _log_changes(self, changes: Sequence[Change]) -> None:
        for line in some([str(change) for change in changes]):
            _log.warning("upstream %r: %s", self._name, line)

    def _read(self) -> Definitions:
        try:
            return self._file.read()
        except (OSError, ValueError) as error:
            message = "upstream %r: what its tools were is not known: %s: %s"
            _log.warning(message, self._name, self._file.path, error)
        try:
            aside = self._file.set_aside()
            _log.warning("upstream %r: the file is now %s", self._name, aside)
        except OSError as error:
            _log.warning("upstream %r: the file stays where it is: %s", self._name, error)
        return Definitions()

    def _compare(self, known: Definitions, listing: Listing) -> Sequence[Change]:
        now = {tool.name: tool.fingerprint for tool in listing.tools}
        is_first = known.tools is None
        changes = known.listed(now, whole=listing.whole)
        if changes or is_first:
            try:
                self._file.write(known)
            except OSError as error:
                message = "upstream %r: a change of its tools will not be noticed after a restart: %s"
                _log.warning(message, self._name, error)
        return changes
