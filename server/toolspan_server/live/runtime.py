"""The server alive: the config that is served now, and how another one takes its place."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from ..calls.caller import Origin
from ..calls.context import Context
from ..calls.results import ToolResult
from ..calls.slots import CallSlot, NoSlot
from ..common.changes import Change, Changes
from ..config import Config
from ..parts.service import Service
from ..tools.registry import CompiledTools, Registry, Tool
from . import call_log
from .health import health, source_problems
from .services import Start, running_services
from .snapshots import (
    ConfigSnapshot,
    differences,
    first,
    successor,
)
from .source_runner import SourceRunner

if TYPE_CHECKING:
    from ..engines.definitions.call_preview import CallPreview

_log = logging.getLogger(__name__)
_BEYOND_TIMEOUTS_S = 5.0

ConfigFollower = Callable[[Config], Callable[[], None]]
_CLOSING_S = 1.0


class Runtime:
    """The running server, independent of the protocol. ``changes`` publishes what changes meanwhile.

    ``name`` is how the server introduces itself, for as long as it runs. ``on_result`` is called with every
    result, ``refused_reloads`` counts the changed configs that could not be served. ``start`` runs something
    for as long as the server does.
    """

    def __init__(self, snapshot: ConfigSnapshot, start: Start) -> None:
        self.snapshot = snapshot
        self.changes = Changes()
        self.name = snapshot.config.name
        self.problems: tuple[str, ...] = ()
        self.on_result: Callable[[ToolResult], None] | None = None
        self.refused_reloads = 0
        self.start = start
        self._live = [snapshot]
        self._stops: dict[int, tuple[Service | SourceRunner, Callable[[], None]]] = {}
        self._whole = anyio.Event()
        self._taken: set[tuple[int, str]] = set()
        self._followers: list[ConfigFollower] = []
        self._call_slot: CallSlot = NoSlot()
        self._is_remote = False
        self._begin(snapshot)
        if snapshot.source_runners:
            start(self._settle, once=True)
        else:
            self._settle_now()

    @property
    def config(self) -> Config:
        """The config that is served now."""
        return self.snapshot.config

    @property
    def registry(self) -> Registry:
        """The tools that are served now."""
        return self.snapshot.executor.registry

    @property
    def is_settled(self) -> bool:
        """Whether every source had its time to offer its tools, so that the list is complete."""
        return self._whole.is_set()

    async def settled(self) -> None:
        """Wait until ``is_settled``: at most ``limits.upstream_connect_seconds`` from the start."""
        await self._whole.wait()

    async def execute(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        context: Context | Origin,
        meta: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        """Run the tool ``name``, as ``Executor.execute`` does, in the config that is served now."""
        tool = self.registry.get(name)
        return await (self.refuse_unknown(name) if tool is None else self.run(tool, arguments, context, meta))

    async def run(
        self,
        tool: Tool,
        arguments: Mapping[str, Any] | None,
        context: Context | Origin,
        meta: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        """Run ``tool``, one of ``registry``, as ``Executor.run`` does."""
        snapshot = self.snapshot
        snapshot.calls += 1
        try:
            call = snapshot.executor.run(tool, arguments, context, meta)
            if call_log.is_wanted():
                origin, given = (
                    (context, meta or {}) if isinstance(context, Origin) else (context.origin, context.meta)
                )
                call = call_log.logged(tool, origin, given, call)
            return self._noted(await call)
        finally:
            snapshot.calls -= 1
            if snapshot.idle is not None and not snapshot.calls:
                snapshot.idle.set()

    async def preview(
        self, tool: Tool, arguments: Mapping[str, Any], origin: Origin, meta: Mapping[str, Any]
    ) -> CallPreview:
        """What a person is shown of a call of ``tool``; see ``Executor.preview``."""
        return await self.snapshot.executor.preview(tool, arguments, origin, meta)

    async def refuse_unknown(self, name: str) -> ToolResult:
        """The result of a call of ``name``, which is no tool."""
        return self._noted(self.snapshot.executor.unknown(name))

    def _noted(self, result: ToolResult) -> ToolResult:
        if self.on_result is not None:
            self.on_result(result)
        return result

    async def replace(self, config: Config) -> None:
        """Serve ``config`` from now on; what runs in the one before ends there.

        Services, sources and tools of which both say the same go on. New sources get the time to offer
        their tools first. Raises ``ConfigError`` or ``ServeError`` when the new config cannot be served; the
        old one then goes on.
        """
        old = self.snapshot
        followed = [await anyio.to_thread.run_sync(follower, config) for follower in self._followers]
        new = await successor(old, config)
        self._live.append(new)
        try:
            self._begin(new)
            await new.offered()
            changes = await anyio.to_thread.run_sync(differences, old, new)
        except BaseException:
            self._live.remove(new)
            self._stop_unused()
            raise
        self.snapshot = new
        new.environment.shared.renew()
        for follow in followed:
            follow()
        self.problems = ()
        self._settle_now()
        self.changes.publish(*changes)
        self.start(partial(self._retire, old), once=True)

    def use_call_slot(self, slot: CallSlot) -> None:
        """Let calls that only wait leave ``slot``, which counts the running ones."""
        self._call_slot = slot
        for snapshot in self._live:
            snapshot.executor.call_slot = slot

    def serve_remotely(self) -> None:
        """Withhold details of errors from clients, unless the config allows them."""
        self._is_remote = True
        for snapshot in self._live:
            self._set_details(snapshot)

    def add_follower(self, follower: ConfigFollower) -> None:
        """Ask ``follower`` about every config that is to be served; what it gives is done when it is.

        It runs in a thread, and refuses a config by ``ConfigError`` or ``ServeError``.
        """
        self._followers.append(follower)

    def refuse(self, problems: Sequence[str]) -> None:
        """Note that the config was changed into something that cannot be served, and why."""
        self.problems = tuple(problems)
        self.refused_reloads += 1

    def redact(self, text: str) -> str:
        """``text`` without the secrets of any config that is still in use."""
        for snapshot in self._live:
            text = snapshot.config.redact(text)
        return text

    def health(self) -> dict[str, Any]:
        """How everything does: ``{"status": "ok" | "degraded", "config": …, "sources": …, "services": …}``.

        ``config`` has the number of the config that is served, when it was loaded, and the problems of a
        later one that was refused.
        """
        return health(self.snapshot, self.problems, self.redact)

    def source_problems(self) -> tuple[str, ...]:
        """Why tools of sources are missing, for a client that may see the details of errors."""
        snapshot = self.snapshot
        if not snapshot.source_runners or not snapshot.executor.shows_details:
            return ()
        return source_problems(snapshot, self.redact)

    def _begin(self, snapshot: ConfigSnapshot) -> None:
        """Start what ``snapshot`` has and no other had before."""
        snapshot.executor.publish = self.changes.publish
        snapshot.executor.call_slot = self._call_slot
        self._set_details(snapshot)
        for place, runner in enumerate(snapshot.source_runners):
            runner.changed = self._offered
            if runner.offered.is_set():
                self._put(snapshot, place)
        if snapshot.resources is not None:
            snapshot.resources.changed = self.changes.publish
        if (offered := snapshot.offered_resources) is not None and offered is not snapshot.resources:
            offered.subscribe(self.changes.publish)
        for worker in snapshot.workers:
            if id(worker) not in self._stops:
                self._stops[id(worker)] = (worker, self.start(worker.run))

    def _set_details(self, snapshot: ConfigSnapshot) -> None:
        configured = snapshot.config.serving.error_details
        snapshot.executor.shows_details = not self._is_remote if configured is None else configured

    async def _settle(self) -> None:
        await self.snapshot.offered()
        self._settle_now()

    def _settle_now(self) -> None:
        self._whole.set()
        tools = {tool.name: tool.config.tags for tool in self.registry}
        for name, toolset in self.config.toolsets.items():
            if unmatched := toolset.without_match(tools):
                _log.warning("toolset %r: no tool matches %s", name, ", ".join(unmatched))

    def _offered(self, runner: SourceRunner) -> None:
        """Put what ``runner`` offers now into every snapshot that has it."""
        before = list(self.registry)
        for snapshot in self._live:
            if runner in snapshot.source_runners:
                self._put(snapshot, snapshot.source_runners.index(runner))
        same = self.registry.lists_the_same(before)
        self.changes.publish(*() if same else (Change("tools"),))

    def _put(self, snapshot: ConfigSnapshot, place: int) -> None:
        runner, registry = snapshot.source_runners[place], snapshot.executor.registry
        for loser, name in registry.offer(place, runner.tools):
            owner = registry.place(name)
            if loser is not None and (loser, name) not in self._taken and owner != loser:
                self._taken.add((loser, name))
                whose = "the config's registry" if owner is None else f"tools.sources[{owner}]"
                message = "the tool %r of tools.sources[%d] (%s) is left out: %s has one of that name"
                _log.warning(message, name, loser, snapshot.source_runners[loser].config.type, whose)

    async def _retire(self, snapshot: ConfigSnapshot) -> None:
        """Let the calls of ``snapshot`` end, then stop what only it had."""
        snapshot.idle = anyio.Event()
        longest_s = max((tool.timeout_ms for tool in snapshot.executor.registry), default=0) / 1000
        if snapshot.calls:
            with anyio.move_on_after(longest_s + _BEYOND_TIMEOUTS_S):
                await snapshot.idle.wait()
        self._live.remove(snapshot)
        self._stop_unused()
        if all(each.environment is not snapshot.environment for each in self._live):
            await snapshot.environment.shared.aclose()

    async def aclose(self) -> None:
        """Close what the tools of every snapshot share, such as connections."""
        for snapshot in self._live:
            await snapshot.environment.shared.aclose()

    def _stop_unused(self) -> None:
        used = {id(worker) for snapshot in self._live for worker in snapshot.workers}
        for key in self._stops.keys() - used:
            self._stops.pop(key)[1]()


@asynccontextmanager
async def running(config: Config, tools: CompiledTools | None = None) -> AsyncGenerator[Runtime]:
    """``config`` with its services and sources running; they stop when the block ends.

    ``tools`` are what ``registry.compile_tools`` gave for it, if it was called already. Nothing is raised for
    a service or source that does not start: ``Runtime.health`` tells, and calls that need it fail.
    """
    snapshot = first(config, tools)
    async with running_services({}) as start:
        runtime = Runtime(snapshot, start)
        try:
            runners = snapshot.source_runners
            if runners and all(runner.config.is_immediate for runner in runners):
                await runtime.settled()
            yield runtime
        finally:
            with anyio.move_on_after(_CLOSING_S, shield=True):
                await runtime.aclose()
