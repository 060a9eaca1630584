"""Providers that stand for others: those whose answers are recorded."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import TracebackType
from typing import Self

from typing_extensions import override

from ...errors import BridgeError
from ...messages import Reply, Request
from ...messages.deltas import Delta
from ...providers import Provider
from ...providers.identity import Identified, Identity, identity_of, wire_of
from ...providers.pool import Providers
from .recorder import Recorder

__all__ = ["RecordingProviders"]


class RecordingProviders:
    """The providers of ``pool``, whose answers ``recorder`` writes down."""

    def __init__(self, pool: Providers, recorder: Recorder) -> None:
        self._pool = pool
        self._recorder = recorder
        self._known: dict[str, tuple[Provider, str]] = {}

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._pool.__aexit__(kind, error, trace)

    async def get(self, model: str) -> tuple[Provider, str]:
        """The provider of ``provider/model``, recorded, and the model's name there. Raises as ``pool``."""
        if model not in self._known:
            provider, name = await self._pool.get(model)
            self._known[model] = (_Recorded(model, provider, self._recorder), name)
        return self._known[model]


class _Recorded(Provider, Identified):
    """The provider ``inner`` of ``model``."""

    def __init__(self, model: str, inner: Provider, recorder: Recorder) -> None:
        self.name = inner.name
        self.format_name = inner.format_name
        self.searches_tools = inner.searches_tools
        self.price_share = inner.price_share
        self._model = model
        self._inner = inner
        self._recorder = recorder

    @override
    async def identity(self, model: str) -> Identity:
        """The identity of ``model``."""
        found = await identity_of(self._inner, model)
        self._recorder.keep_model(self._model, model, self._inner, found)
        return found

    @override
    def wire(self, model: str) -> Provider:
        """The provider that is recorded, in the wire format of ``model``."""
        return wire_of(self._inner, model)

    @override
    async def answer(self, request: Request) -> Reply:
        """The answer, which is written down. Raises as ``inner``."""
        try:
            reply = await self._inner.answer(request)
        except BridgeError as error:
            self._recorder.keep_answer(request, error)
            raise
        except BaseException:  # cancelled: the trial was ended
            self._recorder.keep_answer(request, None)
            raise
        self._recorder.keep_answer(request, reply)
        return reply

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The answer in its pieces, and whole, which is written down. Raises as ``inner``."""
        reply: Reply | None = None
        fault: BridgeError | None = None
        try:
            async with aclosing(self._inner.stream(request)) as items:
                async for item in items:
                    if isinstance(item, Reply):
                        reply = item
                    else:
                        yield item
        except BridgeError as error:
            fault = error
            raise
        finally:
            self._recorder.keep_answer(request, reply or fault)
        if reply is not None:
            yield reply

    @override
    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()
