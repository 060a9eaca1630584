"""The live source of an upstream's tools."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from ...common.slices import some
from ...config.models.tools import Offer
from ._locked import LockUnusable, held_to_lock
from ._upstream_tools import offered

if TYPE_CHECKING:
    from ...engines.upstreams import ListedTool, Listing
    from ..services._upstreams import Upstream, Upstreams
    from ._mcp_config import McpSourceConfig

_log = logging.getLogger(__name__)
_MOST_NAMED = 20


class McpSource:
    """Offers the tools of an upstream, as ``config`` selects them, after each listing.

    While the upstream is lost its tools stay listed: a call waits briefly for it, then fails with the reason.
    """

    def __init__(self, config: McpSourceConfig, upstreams: Upstreams, folder: Path) -> None:
        self._config = config
        self._folder = folder
        self._lock_problem = ""
        self._withheld: list[str] = []
        self._upstream: Upstream | None = upstreams.upstreams.get(config.upstream)
        self._offered = 0
        self._omitted: tuple[str, ...] = ()
        self._changed = anyio.Event()

    async def run(self, offer: Offer) -> None:
        """Offer the tools after each listing; an empty list at once when the upstream cannot be reached."""
        if self._upstream is None or self._upstream.disabled:
            offer(())
            return await anyio.sleep_forever()
        latest: Listing | None = None
        stop = self._upstream.subscribe(self._wake)
        try:
            while True:
                self._changed = anyio.Event()
                listing = self._upstream.listing
                if listing is not None and listing is not latest:
                    latest = listing
                    await self._offer(listing, offer)
                elif listing is None and self._upstream.connection.lost is not None:
                    offer(())
                await self._changed.wait()
        finally:
            stop()

    def state(self) -> Mapping[str, Any]:
        """The upstream's state.

        ``offered`` counts its offered tools, ``left_out`` those that cannot be offered, of which ``omitted``
        names some, and ``withheld`` names those that are not as they were locked.
        """
        if self._upstream is None:
            return {"name": self._config.upstream, "state": "failed", "error": "not in services.upstreams"}
        found = {**self._upstream.state(), "offered": self._offered, "left_out": len(self._omitted)}
        if self._omitted:
            found["omitted"] = self._omitted[:_MOST_NAMED]
        if self._withheld:
            found["withheld"] = self._withheld[:_MOST_NAMED]
        return {**found, "error": self._lock_problem} if self._lock_problem else found

    def _wake(self) -> None:
        self._changed.set()

    async def _offer(self, listing: Listing, offer: Offer) -> None:
        tools = await self._as_locked(listing) if self._config.definitions == "locked" else listing.tools
        try:
            found = await offered(self._config, tools)
        except OSError as error:
            _log.error("upstream %r: its schemas cannot be judged: %s", self._config.upstream, error)
            return
        for warning in some(found.warnings):
            _log.warning("upstream %r: %s", self._config.upstream, warning)
        self._offered, self._omitted = len(found.tools), tuple(found.left_out)
        offer(found.tools)

    async def _as_locked(self, listing: Listing) -> Sequence[ListedTool]:
        """The tools that are as they were locked; what is wrong with the others is logged."""
        self._lock_problem, self._withheld = "", []
        try:
            held = await anyio.to_thread.run_sync(
                held_to_lock, self._folder, self._config.upstream, listing.tools
            )
        except LockUnusable as unusable:
            self._lock_problem = f"{unusable}: none of its tools is served"
            _log.error("upstream %r: %s", self._config.upstream, self._lock_problem)
            return ()
        for reason in some(held.reasons):
            _log.warning("upstream %r: %s", self._config.upstream, reason)
        self._withheld = held.withheld
        return held.tools
