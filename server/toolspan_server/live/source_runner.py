"""Runs sources, and compiles the tools that they offer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from ..common.slices import without_pauses
from ..common.supervision import kept
from ..config import ToolConfig
from ..parts.environment import Environment
from ..parts.source import Source, SourceConfig
from ..tools.registry import Tool, compile_tool

_log = logging.getLogger(__name__)
_FIRST_DELAY_S = 1.0
_MOST_DELAY_S = 60.0


class SourceRunner:
    """The source at ``place`` of the config. ``changed`` is called when ``tools`` are others now.

    ``offered`` is set once it has offered for the first time.
    """

    def __init__(
        self, config: SourceConfig, source: Source, environment: Environment, timeout_ms: int
    ) -> None:
        self.config = config
        self.source = source
        self.tools: tuple[Tool, ...] = ()
        self.offered = anyio.Event()
        self.changed: Callable[[SourceRunner], None] = _ignored
        self.timeout_ms = timeout_ms
        self._environment = environment
        self._crash = ""
        self._latest: Sequence[ToolConfig] = ()
        self._came = anyio.Event()

    async def run(self) -> None:
        """Run the source until cancelled; one that crashes is restarted, with growing delays."""
        async with anyio.create_task_group() as group:
            group.start_soon(kept("the compilation of a source's tools", self._take))
            delay = _FIRST_DELAY_S
            while True:
                started = time.monotonic()
                await self._run_once()
                if time.monotonic() - started > _MOST_DELAY_S:
                    delay = _FIRST_DELAY_S
                await anyio.sleep(delay)
                delay = min(2 * delay, _MOST_DELAY_S)

    def state(self) -> dict[str, Any]:
        """The state that the source reports, with its ``type`` and its number of ``tools``."""
        try:
            reported: Mapping[str, Any] = self.source.state()
        except Exception as error:
            reported = {"state": "failed", "error": f"{type(error).__name__}: {error}"}
        crashed = {"state": "failed", "error": self._crash} if self._crash else {}
        return {"type": self.config.type, **reported, "tools": len(self.tools), **crashed}

    async def _run_once(self) -> None:
        """Run the source until it ends or crashes, which it should not."""
        try:
            await self.source.run(self._offer)
            self._crash = "it ended"
        except Exception as error:
            self._crash = f"{type(error).__name__}: {error}"
            _log.exception("a source of tools (%s) failed and is started again", self.config.type)

    def _offer(self, tools: Sequence[ToolConfig]) -> None:
        self._crash = ""
        self._latest = tuple(tools)
        self._came.set()

    async def _take(self) -> None:
        while True:
            await self._came.wait()
            self._came = anyio.Event()
            latest = self._latest
            self.tools = await anyio.to_thread.run_sync(partial(self._compiled, latest))
            self.offered.set()
            self.changed(self)

    def _compiled(self, tools: Sequence[ToolConfig]) -> tuple[Tool, ...]:
        """Those of ``tools`` that can be compiled: one that cannot does not affect the others."""
        ready: list[Tool] = []
        for tool in without_pauses(tools):
            try:
                ready.append(compile_tool(tool, self._environment, self.timeout_ms))
            except Exception:
                _log.exception("the tool %r of a source (%s) is left out", tool.name, self.config.type)
        return tuple(ready)


def _ignored(_runner: SourceRunner) -> None:
    return None
