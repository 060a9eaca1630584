"""A config brought to life: registry, services, executor."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from .config import Config
from .context import Context
from .executor import Executor
from .kinds import Environment
from .registry import Registry
from .services import running_services


@asynccontextmanager
async def running(config: Config) -> AsyncGenerator[Executor]:
    """The executor of ``config`` with its services running; they stop when the block ends."""
    environment = Environment(config.directory, config.state_directory)
    services = {name: service.build(environment) for name, service in config.services.configured().items()}
    executor = Executor(
        Registry.from_config(config),
        surroundings=Context(services=services, config_dir=config.directory),
        redact=config.redact if config.has_secrets else None,
        max_result_bytes=config.limits.result_bytes,
    )
    async with running_services(services):
        yield executor
