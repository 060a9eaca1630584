"""The models of many providers, requested concurrently."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import anyio

from ..errors import BridgeError, ProviderError, UnreachableError, UsageError
from .compatible.rows import row_names, row_of
from .deployments.own_models import OwnModels
from .http.retry import RetryPolicy
from .http.settings import HttpSettings
from .resolve import OwnProviders, resolve_model
from .settings.environment import variable
from .wire.model_facts import ModelFacts

_AT_ONCE = 8
_FRESH_SECONDS = 60.0
_WITHIN_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class ModelListing:
    """One provider's list, or the error that explains why there is none. ``start`` is the command that starts
    a server of this machine which nobody moved elsewhere, and which does not run."""

    provider: str
    models: tuple[ModelFacts, ...] = ()
    error: BridgeError | None = None
    start: str = ""


class ModelLister:
    """Requests lists of models from providers. A list is cached for a minute, an error is not."""

    def __init__(self, own: OwnProviders | None = None) -> None:
        self._own = own or {}
        self._kept: dict[str, tuple[float, ModelListing]] = {}

    async def listed(self, providers: Sequence[str]) -> list[ModelListing]:
        """Each provider's list, in order; at most eight are requested at a time, each for at most 20 s."""
        found: dict[str, ModelListing] = {}
        limit = anyio.CapacityLimiter(_AT_ONCE)

        async def ask(name: str) -> None:
            async with limit:
                found[name] = await self._listed(name)

        async with anyio.create_task_group() as tasks:
            for name in dict.fromkeys(providers):
                tasks.start_soon(ask, name)
        return [found[name] for name in dict.fromkeys(providers)]

    async def _listed(self, name: str) -> ModelListing:
        kept = self._kept.get(name)
        if kept is not None and anyio.current_time() < kept[0]:
            return kept[1]
        try:
            with anyio.fail_after(_WITHIN_SECONDS):
                listed = ModelListing(name, await self._models(name))
        except BridgeError as error:
            absent = isinstance(error, UnreachableError) and name not in self._own
            return ModelListing(name, error=error, start=_start_of(name) if absent else "")
        except TimeoutError:
            late = ProviderError(f"{name} did not list its models within {_WITHIN_SECONDS:g} s")
            return ModelListing(name, error=late)
        self._kept[name] = (anyio.current_time() + _FRESH_SECONDS, listed)
        return listed

    async def _models(self, name: str) -> tuple[ModelFacts, ...]:
        if name == "offline":
            return (ModelFacts("keyword", tools=True, vision=False, thinking=False),)
        if name == "scripted":
            raise UsageError("scripted has no list of models: write scripted/FILE")
        if isinstance(own := self._own.get(name), OwnModels):
            return own.facts()
        settings = HttpSettings(connect=3.0, read=10.0, total=_WITHIN_SECONDS, retry=RetryPolicy(retries=1))
        provider: Any = resolve_model(f"{name}/-", settings, self._own)[0]
        async with aclosing(provider):
            models: tuple[ModelFacts, ...] = await provider.models()
            return models


def _start_of(name: str) -> str:
    """The command that starts ``name``, a server of this machine at its usual address; ``""`` for others."""
    if name == "ollama":
        return "" if variable("OLLAMA_HOST")[1] else "ollama serve"
    if name not in row_names():
        return ""
    row = row_of(name)
    moved = any(variable(each)[1] for each in (row.base, row.host) if each)
    return "" if moved else row.local
