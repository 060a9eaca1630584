"""A provider whose requests are paid with a virtual key."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from typing_extensions import override

from ...errors import BridgeError
from ...loop.budget.estimate import message_tokens, request_tokens
from ...messages import Assistant, Reply, Request, Usage
from ...messages.deltas import CallDelta, Delta, ReasoningDelta, TextDelta
from ...providers import Provider
from ...providers.prices import Pricing
from ...providers.wire.tokens import text_tokens
from .admission import Admission
from .estimate import reserved_usd_at
from .spending import Held

__all__ = ["ChargedProvider"]


class ChargedProvider(Provider):
    """``provider``, each of whose requests holds what it may cost of the key of ``admission`` before it is
    made, and is charged with what it cost after; ``pricing_of`` gives the price of a model.

    Where a provider reports no tokens, and where an answer is given up, what was sent and what came are
    estimated; a request that the provider refused costs nothing. Raises ``KeyRefusal`` beside what
    ``provider`` raises.
    """

    def __init__(
        self, provider: Provider, admission: Admission, pricing_of: Callable[[str], Pricing]
    ) -> None:
        self.name = provider.name
        self.format_name = provider.format_name
        self.searches_tools = provider.searches_tools
        self.price_share = provider.price_share
        self._provider = provider
        self._admission = admission
        self._pricing_of = pricing_of

    @override
    async def answer(self, request: Request) -> Reply:
        """The answer, charged."""
        turn = await self._held(request)
        try:
            reply = await self._provider.answer(request)
            turn.usage, turn.message = reply.usage, reply.message
            return reply
        except BridgeError:
            turn.is_free = True
            raise
        finally:
            await turn.settle()

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The same in pieces; it is charged before its last one."""
        turn = await self._held(request)
        try:
            async with aclosing(self._provider.stream(request)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        turn.usage, turn.message = piece.usage, piece.message
                        await turn.settle()
                    else:
                        turn.came.append(_text_of(piece))
                    yield piece
        except BridgeError:
            turn.is_free = not turn.came
            raise
        finally:
            await turn.settle()

    @override
    async def aclose(self) -> None:
        """Close the connections."""
        await self._provider.aclose()

    async def _held(self, request: Request) -> _Turn:
        limits = self._admission.key.limits
        pricing = self._pricing_of(request.model)
        tokens, usd = 0, 0.0
        if limits.has_budget or limits.tokens_per_minute is not None:
            tokens = request_tokens(request)
        if limits.has_budget:
            usd = reserved_usd_at(self._provider, pricing, tokens, request.max_tokens)
        return _Turn(request, pricing, self._admission, await self._admission.hold(tokens, usd))


@dataclass(slots=True)
class _Turn:
    """A request, for which was ``held``, and what came of it."""

    request: Request
    pricing: Pricing
    admission: Admission
    held: Held
    usage: Usage = field(default_factory=Usage)
    message: Assistant | None = None
    came: list[str] = field(default_factory=list[str])
    is_free: bool = False
    is_settled: bool = False

    async def settle(self) -> None:
        """Charge it, once."""
        if self.is_settled:
            return
        self.is_settled = True
        if self.is_free:
            await self.admission.settle(self.held, 0, 0.0)
            return
        usage = self.usage
        if not (usage.input_tokens or usage.output_tokens):
            usage = Usage(request_tokens(self.request), self._said())
        await self.admission.settle(self.held, usage.input_tokens + usage.output_tokens, self._cost(usage))

    def _said(self) -> int:
        return text_tokens("".join(self.came)) if self.message is None else message_tokens(self.message)

    def _cost(self, usage: Usage) -> float:
        """What it cost; where that cannot be known, what was held for it."""
        if self.pricing.is_free:
            return 0.0
        cost = self.pricing.cost(usage)
        return self.held.usd if cost is None else cost


def _text_of(piece: Delta) -> str:
    match piece:
        case TextDelta(text=text) | ReasoningDelta(text=text):
            return text
        case CallDelta(name=name, arguments=arguments):
            return name + arguments
        case _:
            return ""
