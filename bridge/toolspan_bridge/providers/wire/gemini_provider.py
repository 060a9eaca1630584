"""What speaks Gemini's wire format: the operations on a model are part of its URL."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from typing_extensions import override

from ...errors import BridgeError
from ...formats.gemini.continuation import cut_short, is_paused, joined, resumed
from ...messages import Assistant, Reply, Request
from ...messages.deltas import CallDelta, Delta
from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from .endpoint_provider import EndpointProvider
from .token_counts import CountsTokens

MAX_CONTINUATIONS = 8
"""How often the rest of one turn is asked for."""


class GeminiProvider(CountsTokens, EndpointProvider):
    """Gemini at ``endpoint``; ``headers`` are sent with every request.

    A turn that ends at the limit of one request (``CONTINUATION``) is gone on with: it is one reply.
    """

    counted = "totalTokens"

    def __init__(self, endpoint: Endpoint, settings: HttpSettings, headers: Mapping[str, str]) -> None:
        super().__init__(endpoint, "gemini", settings, headers)

    @override
    def _url(self, model: str) -> str:
        return f"{self._model_url(model)}:generateContent"

    @override
    def _stream_url(self, model: str) -> str:
        return f"{self._model_url(model)}:streamGenerateContent?alt=sse"

    @abstractmethod
    def _model_url(self, model: str) -> str:
        """The URL of ``model``."""

    @override
    def _count(self, model: str, body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        return f"{self._model_url(model)}:countTokens", self._counted(model, body)

    @abstractmethod
    def _counted(self, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The request ``body`` as ``countTokens`` takes it."""

    @override
    async def _answer(self, request: Request) -> Reply:
        reply = await super()._answer(request)
        for _ in range(MAX_CONTINUATIONS):
            if not is_paused(reply):
                break
            reply = joined(reply, await super()._answer(resumed(request, reply)))
        return cut_short(reply)

    @override
    async def _stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        reply: Reply | None = None
        for _ in range(MAX_CONTINUATIONS + 1):
            asked = request if reply is None else resumed(request, reply)
            try:
                async with aclosing(super()._stream(asked)) as items:
                    async for item in items:
                        if not isinstance(item, Reply):
                            yield _after(item, reply)
                            continue
                        reply = item if reply is None else joined(reply, item)
            except BridgeError as error:
                if reply is None:
                    raise
                reply = _broken_off(reply, error)
            if reply is None or not is_paused(reply):
                break
        if reply is not None:
            yield cut_short(reply)


def _after(delta: Delta, before: Reply | None) -> Delta:
    """``delta`` counted from the beginning of the turn, of which ``before`` has come."""
    if before is None or not isinstance(delta, CallDelta):
        return delta
    return replace(delta, index=delta.index + len(before.message.calls))


def _broken_off(reply: Reply, error: BridgeError) -> Reply:
    """``reply``, the rest of which could not be had."""
    return replace(
        reply,
        message=Assistant(reply.message.text, incomplete=True),
        stop="other",
        cut_calls=reply.message.calls,
        incomplete=True,
        trouble=error.message,
    )
