"""One config, live: its registry, services, sources and executor; and what differs between two."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from ..calls.context import Surroundings
from ..common.changes import Change
from ..config import Config, LimitsConfig
from ..parts.environment import Environment
from ..parts.service import Service, workers_of
from ..prompts import prompts_of
from ..resources import differing, resources_of
from ..schema.records import is_same
from ..tools.executor import ConcurrencyLimits, Executor
from ..tools.registry import (
    CompiledTools,
    Registry,
    compile_tools,
    environment_of,
)
from .source_runner import SourceRunner
from .storage import store_of

if TYPE_CHECKING:
    from ..prompts.live import Prompts
    from ..resources.live import Resources
    from ..tools.services._upstreams import Upstream
    from .offered.served import ServedPrompts, ServedResources


@dataclass(slots=True, eq=False)
class ConfigSnapshot:
    """One config, live. A changed config makes another one.

    ``calls`` counts what runs in it; ``idle`` is there once another one has taken its place, and set when
    the last call has ended. ``loaded_at`` is in seconds since 1970. ``offered_resources`` and
    ``offered_prompts`` are what clients see: those of upstreams too.
    """

    config: Config
    environment: Environment
    executor: Executor
    services: Mapping[str, Service]
    source_runners: Sequence[SourceRunner] = ()
    resources: Resources | None = None
    prompts: Prompts | None = None
    offered_resources: ServedResources | None = None
    offered_prompts: ServedPrompts | None = None
    number: int = 1
    loaded_at: float = field(default_factory=time.time)
    calls: int = 0
    idle: anyio.Event | None = None

    @property
    def workers(self) -> list[Service | SourceRunner]:
        """What runs beside the calls."""
        files = [self.resources] if self.resources is not None and self.resources.has_files else []
        services = [worker for service in self.services.values() for worker in workers_of(service)]
        return [*services, *self.source_runners, *files]

    async def offered(self) -> None:
        """Wait for the first offer of every source, at most ``limits.upstream_connect_seconds``."""
        with anyio.move_on_after(self.config.limits.upstream_connect_seconds):
            for runner in self.source_runners:
                await runner.offered.wait()


def first(config: Config, tools: CompiledTools | None = None) -> ConfigSnapshot:
    """``config``, not yet running; ``tools`` are what ``compile_tools`` gave for it, if called already."""
    environment, registry = tools or compile_tools(config)
    services = {name: each.build(environment) for name, each in config.services.configured().items()}
    return _made(
        config, environment, registry, services, _source_runners(config, environment, services, None), None
    )


async def successor(old: ConfigSnapshot, config: Config) -> ConfigSnapshot:
    """``config``, not yet running, with those services, sources and tools of ``old`` that are the same."""
    environment = environment_of(config)
    if environment == old.environment:
        environment = old.environment
    earlier = old if environment is old.environment else None
    own = None if earlier is None else earlier.executor.registry
    registry = await anyio.to_thread.run_sync(partial(Registry.from_config, config, environment, own))
    services = _services(config, environment, earlier)
    source_runners = _source_runners(config, environment, services, earlier)
    new = _made(config, environment, registry, services, source_runners, earlier)
    new.number = old.number + 1
    return new


def differences(old: ConfigSnapshot, new: ConfigSnapshot) -> list[Change]:
    """Which lists differ."""
    return list(_differences(old, new))


def _differences(old: ConfigSnapshot, new: ConfigSnapshot) -> Iterator[Change]:
    before, after = old.config, new.config
    listed_alike = new.executor.registry.lists_the_same(list(old.executor.registry))
    if not (listed_alike and _members(old) == _members(new)):
        yield Change("tools")
    same_upstreams = _with_catalogs(old.services) == _with_catalogs(new.services)
    if not (
        same_upstreams
        and is_same(before.resources, after.resources)
        and is_same(before.resource_templates, after.resource_templates)
        and before.skills == after.skills
    ):
        yield Change("resources")
    yield from differing(before, after)
    if not (same_upstreams and is_same(before.prompts, after.prompts)):
        yield Change("prompts")


def _members(snapshot: ConfigSnapshot) -> dict[str, list[str]]:
    """The names of each toolset's tools."""
    tools = list(snapshot.executor.registry)
    return {
        name: [tool.name for tool in tools if toolset.has(tool.name, tool.config.tags)]
        for name, toolset in snapshot.config.toolsets.items()
    }


def _made(
    config: Config,
    environment: Environment,
    registry: Registry,
    services: Mapping[str, Service],
    source_runners: Sequence[SourceRunner],
    earlier: ConfigSnapshot | None,
) -> ConfigSnapshot:
    executor = Executor(
        registry,
        surroundings=Surroundings(
            services=services, config_dir=config.directory, store=store_of(config, environment)
        ),
        redact=config.redact if config.has_secrets else None,
        max_result_bytes=config.limits.result_bytes,
        answer_seconds=config.limits.answer_seconds,
        concurrency_limits=_concurrency_limits(config.limits),
        earlier=None if earlier is None else earlier.executor,
    )
    resources = resources_of(config, None if earlier is None else earlier.resources)
    prompts = prompts_of(config, resources)
    snapshot = ConfigSnapshot(config, environment, executor, services, source_runners, resources, prompts)
    snapshot.offered_resources, snapshot.offered_prompts = resources, prompts
    if upstreams := _with_catalogs(services):
        from .offered.prompts import OfferedPrompts
        from .offered.resources import OfferedResources

        snapshot.offered_resources = OfferedResources(config, resources, upstreams)
        snapshot.offered_prompts = OfferedPrompts(config, prompts, upstreams)
    return snapshot


def _with_catalogs(services: Mapping[str, Service]) -> list[Upstream]:
    """The upstreams whose resources or prompts are served."""
    known: Mapping[str, Upstream] = getattr(services.get("upstreams"), "upstreams", {})
    return [each for each in known.values() if each.has_catalog]


def _concurrency_limits(limits: LimitsConfig) -> ConcurrencyLimits:
    every = limits.concurrent_calls
    return ConcurrencyLimits(
        per_target=limits.concurrent_calls_per_target or max(1, every * 3 // 4),
        per_kind=limits.concurrent_calls_per_kind or max(1, every * 7 // 8),
        queued=limits.queued_calls_per_target,
    )


def _services(config: Config, environment: Environment, earlier: ConfigSnapshot | None) -> dict[str, Service]:
    known = {} if earlier is None else earlier.config.services.configured()
    services: dict[str, Service] = {}
    for name, each in config.services.configured().items():
        if earlier is not None and name in known and is_same(known[name], each):
            services[name] = earlier.services[name]
        elif earlier is not None and name in earlier.services:
            services[name] = each.renewed(environment, earlier.services[name])
        else:
            services[name] = each.build(environment)
    return services


def _source_runners(
    config: Config, environment: Environment, services: Mapping[str, Service], earlier: ConfigSnapshot | None
) -> list[SourceRunner]:
    """The sources at work; those of ``earlier`` where the source and every service is the same."""
    if not config.tools.enabled:
        return []
    timeout_ms = config.tools.default_timeout_ms
    left: list[SourceRunner] = []
    if earlier is not None and dict(earlier.services) == services:
        left = [each for each in earlier.source_runners if each.timeout_ms == timeout_ms]
    source_runners: list[SourceRunner] = []
    for source in config.tools.sources:
        kept = next((each for each in left if is_same(each.config, source)), None)
        if kept is None:
            live = source.build(environment, services)
            source_runners.append(SourceRunner(source, live, environment, timeout_ms))
        else:
            left.remove(kept)
            source_runners.append(kept)
    return source_runners
