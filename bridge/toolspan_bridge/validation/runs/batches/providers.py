"""Providers that are asked by batches, and the pool of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskGroup
from typing_extensions import override

from ....batch import has_batches, price_share
from ....errors import UsageError
from ....messages import Reply, Request
from ....messages.deltas import Delta
from ....providers import Provider
from ....providers.contract import pieces
from ....providers.identity import Identified, Identity, identity_of, wire_of
from ....providers.pool import Providers

__all__ = ["AskBatch", "BatchedProviders"]

AskBatch = Callable[[str, Provider, Request], Awaitable[Reply]]
"""Asks a model (``provider/model``) of a provider by its batches."""


class BatchedProviders:
    """The providers of ``pool``, asked by ``ask``. An async context manager: ``tasks`` run until the block
    ends, and are cancelled then."""

    def __init__(self, pool: Providers, ask: AskBatch) -> None:
        self._pool = pool
        self._ask = ask
        self._known: dict[str, tuple[Provider, str]] = {}
        self._tasks: TaskGroup | None = None

    @property
    def tasks(self) -> TaskGroup:
        """The tasks that follow batches."""
        if self._tasks is None:
            raise AssertionError("batches are followed within the block")
        return self._tasks

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.tasks.cancel_scope.cancel()
            await self.tasks.__aexit__(None, None, None)  # the block's own exception is not wrapped
        finally:
            await self._pool.__aexit__(kind, error, trace)

    async def get(self, model: str) -> tuple[Provider, str]:
        """The provider of ``provider/model``, asked by batches, and the model's name there.

        Raises as ``pool``, and ``UsageError`` for a provider without a batch service that is known here.
        """
        if model not in self._known:
            inner, name = await self._pool.get(model)
            if not has_batches(inner):
                raise UsageError(
                    f"{inner.name} has no batch service that is known here, so {model} cannot be validated "
                    "with --batch: leave it out"
                )
            asked = partial(self._ask, model, inner)
            self._known[model] = (_BatchedProvider(inner, asked), name)
        return self._known[model]

    async def inner(self, model: str) -> Provider:
        """The provider of ``provider/model`` itself. Raises as ``get``."""
        await self.get(model)
        return (await self._pool.get(model))[0]


class _BatchedProvider(Provider, Identified):
    """Stands for the provider ``inner``; ``ask`` gives the answers."""

    def __init__(self, inner: Provider, ask: Callable[[Request], Awaitable[Reply]]) -> None:
        self.name = inner.name
        self.format_name = inner.format_name
        self.searches_tools = inner.searches_tools
        self.price_share = inner.price_share * price_share(inner)
        self._inner = inner
        self._ask = ask

    @override
    async def identity(self, model: str) -> Identity:
        """The identity of ``model``: that of the provider, however it is asked."""
        return await identity_of(self._inner, model)

    @override
    def wire(self, model: str) -> Provider:
        """The provider that is asked, in the wire format of ``model``."""
        return wire_of(self._inner, model)

    @override
    async def answer(self, request: Request) -> Reply:
        """The answer of a batch."""
        return await self._ask(request)

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The whole answer in pieces: a batch does not stream."""
        reply = await self._ask(request)
        for piece in pieces(reply):
            yield piece
        yield reply

    @override
    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()
