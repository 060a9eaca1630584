"""The providers of one session: each connected once, all closed together."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from toolspan_server.config import Config

from .contract import Provider
from .resolve import (
    ChoiceOf,
    own_providers,
    resolve_model,
    with_choice,
)

if TYPE_CHECKING:
    from .http.settings import HttpSettings


class Providers(Protocol):
    """Finds the provider of a model. An async context manager: connections stay open until the block ends."""

    async def __aenter__(self) -> object: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def get(self, model: str) -> tuple[Provider, str]:
        """The provider of ``provider/model``, and the model's name there. Raises as ``resolve_model``."""
        ...


class ProviderPool:
    """Resolves each model once and keeps its provider's connections open until the block ends.

    Where ``TOOLSPAN_RECORD`` names a folder, what each provider is asked and answers is written there,
    without secrets. ``choice_of`` chooses the wording of a model that is named with ``prompt:`` alone, and
    the rendering of one that is named without a mode. ``settings`` are those of the providers' HTTP clients.
    """

    def __init__(
        self,
        config: Config,
        choice_of: ChoiceOf | None = None,
        settings: HttpSettings | None = None,
    ) -> None:
        self._settings = settings
        self._choice_of: ChoiceOf = choice_of or (lambda model, mode: "")
        self._config = config
        self._providers: dict[str, tuple[Provider, str]] = {}
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    async def get(self, model: str) -> tuple[Provider, str]:
        """The provider of ``provider/model``, and the model's name there.

        Raises as ``resolve_model``.
        """
        if model not in self._providers:
            own = own_providers(self._config)
            provider, name = resolve_model(with_choice(model, own, self._choice_of), self._settings, own)
            if folder := os.environ.get("TOOLSPAN_RECORD"):
                _record(provider, Path(folder), self._config)
            await self._open.enter_async_context(aclosing(provider))
            self._providers[model] = (provider, name)
        return self._providers[model]


def _record(provider: Provider, folder: Path, config: Config) -> None:
    from .deployments import DeploymentsProvider
    from .wire.provider import WireProvider
    from .wire.recording import Recorder
    from .wire.two_wires import TwoWires

    if isinstance(provider, DeploymentsProvider):
        for each in provider.deployments:
            _record(each.provider, folder, config)
    elif isinstance(provider, WireProvider | TwoWires):
        provider.recorded(Recorder(folder.resolve(), config.redact))


class PoolUser:
    """An async context manager: the connections of ``providers`` stay open until the block ends."""

    def __init__(self, providers: Providers) -> None:
        self._providers = providers

    async def __aenter__(self) -> Self:
        await self._providers.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._providers.__aexit__(kind, error, trace)
