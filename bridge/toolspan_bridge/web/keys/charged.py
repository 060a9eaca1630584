"""A provider whose requests are paid with a virtual key."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from typing_extensions import override

from ...errors import BridgeError, UnreachableError
from ...loop.budget.estimate import message_tokens, request_tokens
from ...messages import Assistant, Reply, Request, Usage
from ...messages.deltas import CallDelta, Delta, ReasoningDelta, TextDelta
from ...providers import Provider
from ...providers.prices import Pricing, is_amount
from ...providers.spending_bounds import (
    LEAST_OUTPUT_TOKENS,
    InputBound,
    Unbounded,
    affordable_output,
    body_input,
    most_input,
    most_usd,
    pricings_at,
    usual_output,
)
from ...providers.wire.tokens import text_tokens
from .admission import Admission
from .refusals import UnknownPriceError
from .spending import Held

__all__ = ["ChargedProvider"]

_MOST_TOKENS = 2**31 - 1


class ChargedProvider(Provider):
    """``provider``, each of whose requests holds the most that it may cost of the key of ``admission`` before
    it is sent, and is charged with what it cost after; ``pricing_of`` gives the price of a model.

    A request without a limit of output gets one: what is held is what the provider is told. An attempt that
    may have been paid although no answer came, or whose tokens the provider does not report, costs what was
    held for it; a request that the provider refused costs nothing. Raises ``KeyRefusal`` beside what
    ``provider`` raises.
    """

    def __init__(
        self, provider: Provider, admission: Admission, pricing_of: Callable[[str], Pricing]
    ) -> None:
        self.name = provider.name
        self.format_name = provider.format_name
        self.searches_tools = provider.searches_tools and not admission.key.limits.has_budget
        self.price_share = provider.price_share
        self._provider = provider
        self._admission = admission
        self._pricing_of = pricing_of

    @override
    async def answer(self, request: Request) -> Reply:
        """The answer, charged."""
        turn = await self._begun(request)
        try:
            reply = await self._provider.answer(turn.request)
            turn.replied(reply)
            return reply
        except BridgeError as error:
            turn.failed(error)
            raise
        finally:
            await turn.settle()

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The same in pieces; it is charged before its last one."""
        turn = await self._begun(request)
        try:
            async with aclosing(self._provider.stream(turn.request)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        turn.replied(piece)
                        await turn.settle()
                    else:
                        turn.came.append(_text_of(piece))
                    yield piece
        except BridgeError as error:
            turn.failed(error)
            raise
        finally:
            await turn.settle()

    @override
    async def aclose(self) -> None:
        """Close the connections."""
        await self._provider.aclose()

    async def _begun(self, request: Request) -> _Turn:
        pricing = self._pricing_of(request.model)
        turn = _Turn(request, pricing, pricings_at(self._provider, pricing), self._admission)
        await turn.begin()
        return turn


class _Turn:
    """One request, paid by ``admission``: what is held for the attempt that runs, and what came of it. It is
    the ``Meter`` of ``request``, which has its limit of output."""

    def __init__(
        self, request: Request, pricing: Pricing, pricings: Sequence[Pricing], admission: Admission
    ) -> None:
        self.request = request
        self.came: list[str] = []
        self._pricing = pricing
        self._pricings = pricings
        self._admission = admission
        self._limits = admission.key.limits
        self._has_budget = self._limits.has_budget and not all(each.is_free for each in pricings)
        self._bound = InputBound(0, 0)
        self._held: Held | None = None
        self._usage = Usage()
        self._sides = 0, 0
        self._message: Assistant | None = None
        self._is_metered = self._is_open = self._is_free = False

    async def begin(self) -> None:
        """Hold what the request may take. Raises ``KeyRefusal``."""
        if self._has_budget:
            self._bound = self._input()
        if self._has_budget or self._limits.tokens_per_minute is not None:
            limit = self.request.max_tokens
            limit = await self._output() if limit is None else max(limit, LEAST_OUTPUT_TOKENS)
            self.request = replace(self.request, max_tokens=limit)
        self.request = replace(self.request, meter=self)
        await self._hold(self._wanted(self._bound.tokens, self.request.max_tokens))

    async def sends(self, body: bytes, most_output: int | None) -> None:
        """An attempt begins. Raises ``KeyRefusal``."""
        if self._is_open:  # the attempt before may have been paid
            await self._settle(self._held or Held(), self._held)
            self._held = None
        if self._has_budget:
            if most_output is None:
                raise UnknownPriceError(
                    f"{self._pricing.model} takes no limit of the answer's tokens as it is asked here, "
                    f"{self._would_not_hold}: ask for less effort of reasoning, or use another model"
                )
            await self._hold(self._wanted(body_input(body, self._bound), most_output))
        elif self._held is None:
            await self._hold(self._wanted(0, most_output))
        self._is_metered = self._is_open = True

    def cost_nothing(self) -> None:
        """The attempt was refused, or not sent."""
        self._is_open = False

    def replied(self, reply: Reply) -> None:
        """The answer is whole."""
        self._message = reply.message
        # What is counted when a stream breaks off is not all that is paid.
        self._usage = Usage() if reply.incomplete and self._has_budget else reply.usage

    def failed(self, error: BridgeError) -> None:
        """No whole answer came."""
        is_refused = not self._is_open if self._is_metered else _is_refusal(error)
        self._is_free = self._message is None and is_refused and not self.came

    async def settle(self) -> None:
        """Charge what runs, once."""
        held, self._held = self._held, None
        if held is None:
            return
        usage = self._usage
        if self._is_free:
            await self._settle(Held(), held)
            return
        counted = _counted(usage, request_tokens(self.request), self._said())
        usd = held.usd
        if usage.input_tokens or usage.output_tokens:
            usd = self._cost(_counted(usage, *self._sides), held)
        await self._settle(Held(counted.input_tokens + counted.output_tokens, usd), held)

    @property
    def _would_not_hold(self) -> str:
        return f"so that the budget of the key {self._admission.key.name!r} would not hold"

    def _input(self) -> InputBound:
        try:
            return most_input(self.request, self._pricings)
        except Unbounded as why:
            raise UnknownPriceError(
                f"{why}, {self._would_not_hold}: use a key without a budget, or ask without it"
            ) from None

    async def _output(self) -> int:
        """The limit of the answer where the request has none: what is usual, as far as the key allows it."""
        wanted = usual_output(self.request)
        if (minute := self._limits.tokens_per_minute) is not None:
            wanted = min(wanted, minute - request_tokens(self.request))
        if self._has_budget and (left := await self._admission.unspent()) is not None:
            least = max(1, min(wanted, LEAST_OUTPUT_TOKENS))
            self._usd(self._bound.tokens, least)  # the price is known
            sent = self._bound.tokens + self._bound.text // 8  # a format may write more than the request has
            wanted = affordable_output(self._pricings, sent, left, wanted)
        return max(wanted, LEAST_OUTPUT_TOKENS)

    def _wanted(self, input_tokens: int, output_tokens: int | None) -> Held:
        output = output_tokens or 0
        self._sides = input_tokens, output
        tokens = 0
        if self._limits.tokens_per_minute is not None:
            tokens = request_tokens(self.request) + output
        return Held(tokens, self._usd(input_tokens, output) if self._has_budget else 0.0)

    def _usd(self, input_tokens: int, output_tokens: int) -> float:
        usd = most_usd(self._pricings, input_tokens, output_tokens)
        if usd is None:
            whys = "; ".join(dict.fromkeys(each.unbounded for each in self._pricings if each.unbounded))
            raise UnknownPriceError(
                f"{whys or f'no price of {self._pricing.model} is known'}, {self._would_not_hold}: use a key "
                "without a budget, or a model with a price"
            )
        return usd

    async def _hold(self, wanted: Held) -> None:
        """Hold ``wanted``, or what of it is not held yet."""
        held = self._held or Held()
        more = Held(max(0, wanted.tokens - held.tokens), max(0.0, wanted.usd - held.usd))
        if self._held is None or more != Held():
            await self._admission.hold(more)
            self._held = Held(held.tokens + more.tokens, held.usd + more.usd)

    async def _settle(self, took: Held, held: Held | None) -> None:
        await self._admission.settle(held or Held(), took)

    def _said(self) -> int:
        return text_tokens("".join(self.came)) if self._message is None else message_tokens(self._message)

    def _cost(self, usage: Usage, held: Held) -> float:
        """What it cost; where that cannot be known, what was held for it."""
        if self._pricing.is_free:
            return 0.0
        cost = self._pricing.cost(usage)
        return cost if is_amount(cost) else held.usd


def _counted(usage: Usage, read: int, written: int) -> Usage:
    """``usage``, where a side that is not counted, or beyond all reason, has so many tokens: ``read`` or
    ``written``."""
    return replace(
        usage,
        input_tokens=usage.input_tokens if 0 < usage.input_tokens <= _MOST_TOKENS else read,
        output_tokens=usage.output_tokens if 0 < usage.output_tokens <= _MOST_TOKENS else written,
    )


def _is_refusal(error: BridgeError) -> bool:
    """Whether a request that ended so was not paid, where nobody told of its attempts."""
    return not (isinstance(error, UnreachableError) and error.was_sent)


def _text_of(piece: Delta) -> str:
    match piece:
        case TextDelta(text=text) | ReasoningDelta(text=text):
            return text
        case CallDelta(name=name, arguments=arguments):
            return name + arguments
        case _:
            return ""
