"""A config brought to life: registry, services, executor; and what of it an endpoint serves."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from .changes import Changes
from .config import Config
from .context import Context
from .executor import Executor
from .kinds import Environment
from .registry import Registry
from .results import ToolResult
from .services import Service, running_services


@dataclass(frozen=True, slots=True)
class Generation:
    """One config, live. A changed config makes another one."""

    config: Config
    executor: Executor
    services: Mapping[str, Service]


class Runtime:
    """The live server, whatever speaks for it. ``changes`` tells of what changes while it runs."""

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self.changes = Changes()

    @property
    def config(self) -> Config:
        """The config that is served now."""
        return self.generation.config

    @property
    def registry(self) -> Registry:
        """The tools that are served now."""
        return self.generation.executor.registry

    async def execute(
        self, name: str, arguments: Mapping[str, Any] | None = None, context: Context | None = None
    ) -> ToolResult:
        """Run the tool ``name``, as ``Executor.execute`` does, in the config that is served now."""
        return await self.generation.executor.execute(name, arguments, context)


@asynccontextmanager
async def running(config: Config) -> AsyncGenerator[Runtime]:
    """``config`` with its services running; they stop when the block ends."""
    generation = _generation(config)
    async with running_services(generation.services):
        yield Runtime(generation)


def _generation(config: Config) -> Generation:
    environment = Environment(config.directory, config.state_directory)
    services = {name: service.build(environment) for name, service in config.services.configured().items()}
    executor = Executor(
        Registry.from_config(config),
        surroundings=Context(services=services, config_dir=config.directory),
        redact=config.redact if config.has_secrets else None,
        max_result_bytes=config.limits.result_bytes,
    )
    return Generation(config, executor, services)
