"""A provider whose requests are paid from an account."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from typing_extensions import override

from ...errors import BridgeError, UnreachableError
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
from ..budget.estimate import message_tokens, request_tokens
from .account import Account, Held

__all__ = ["ChargedProvider"]

_MOST_TOKENS = 2**31 - 1


class ChargedProvider(Provider):
    """``provider``, each of whose requests holds the most that it may cost of ``account`` before it is sent,
    and is charged with what it cost after; ``pricing_of`` gives the price of a model.

    A request without a limit of output gets one: what is held is what the provider is told. An attempt that
    may have been paid although no answer came, or whose tokens the provider does not report, costs what was
    held for it; a request that the provider refused costs nothing. ``provider`` may be charged to another
    account itself: both hold. Raises what ``account`` and ``provider`` raise.
    """

    def __init__(self, provider: Provider, account: Account, pricing_of: Callable[[str], Pricing]) -> None:
        self.name = provider.name
        self.format_name = provider.format_name
        self.searches_tools = provider.searches_tools and not account.has_budget
        self.price_share = provider.price_share
        self._provider = provider
        self._account = account
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
        turn = _Turn(request, pricing, pricings_at(self._provider, pricing), self._account)
        await turn.begin()
        return turn


class _Turn:
    """One request, paid from ``account``: what is held for the attempt that runs, and what came of it. It is
    the ``Meter`` of ``request``, which has its limit of output."""

    def __init__(
        self, request: Request, pricing: Pricing, pricings: Sequence[Pricing], account: Account
    ) -> None:
        self.request = request
        self._others = request.meter
        self.came: list[str] = []
        self._pricing = pricing
        self._pricings = pricings
        self._account = account
        self._has_budget = account.has_budget and not all(each.is_free for each in pricings)
        self._bound = InputBound(0, 0)
        self._held: Held | None = None
        self._usage = Usage()
        self._sides = 0, 0
        self._message: Assistant | None = None
        self._is_metered = self._is_open = self._is_free = self._is_whole = False

    async def begin(self) -> None:
        """Hold what the request may take. Raises as ``Account.hold``."""
        if self._has_budget:
            self._bound = self._input()
        if self._has_budget or self._account.tokens_per_minute is not None:
            limit = self.request.max_tokens
            limit = await self._output() if limit is None else max(limit, LEAST_OUTPUT_TOKENS)
            self.request = replace(self.request, max_tokens=limit)
        caps_price = self._has_budget or self.request.caps_price
        self.request = replace(self.request, meter=self, caps_price=caps_price)
        await self._hold(self._wanted(self._bound.tokens, self.request.max_tokens))

    async def sends(self, body: bytes, most_output: int | None) -> None:
        """An attempt begins. Raises as ``Account.hold``."""
        if self._others is not None:
            await self._others.sends(body, most_output)
        try:
            await self._sends(body, most_output)
        except BaseException:
            if self._others is not None:
                self._others.cost_nothing()
            raise

    async def _sends(self, body: bytes, most_output: int | None) -> None:
        if self._is_open:  # the attempt before may have been paid
            await self._settle(self._held or Held(), self._held)
            self._held = None
        if self._has_budget:
            if most_output is None:
                raise self._account.unbounded(
                    f"{self._pricing.model} takes no limit of the answer's tokens as it is asked here",
                    "ask for less effort of reasoning or another model",
                )
            await self._hold(self._wanted(body_input(body, self._bound), most_output))
        elif self._held is None:
            await self._hold(self._wanted(0, most_output))
        self._is_metered = self._is_open = True

    def cost_nothing(self) -> None:
        """The attempt was refused, or not sent."""
        self._is_open = False
        if self._others is not None:
            self._others.cost_nothing()

    def replied(self, reply: Reply) -> None:
        """The answer is whole."""
        self._message, self._is_whole = reply.message, not reply.incomplete
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
        tokens, usd = counted.input_tokens + counted.output_tokens, held.usd
        if not self._is_whole:  # the provider may have written more than came
            tokens = max(tokens, held.tokens)
        if usage.input_tokens or usage.output_tokens:
            usd = self._cost(_counted(usage, *self._sides), held)
        await self._settle(Held(tokens, usd), held)

    def _input(self) -> InputBound:
        try:
            return most_input(self.request, self._pricings)
        except Unbounded as why:
            raise self._account.unbounded(str(why), "ask without it") from None

    async def _output(self) -> int:
        """The limit of the answer where the request has none: what is usual, and what the account allows."""
        wanted = usual_output(self.request)
        if (minute := self._account.tokens_per_minute) is not None:
            wanted = min(wanted, minute - request_tokens(self.request))
        if self._has_budget and (left := await self._account.unspent()) is not None:
            least = max(1, min(wanted, LEAST_OUTPUT_TOKENS))
            self._usd(self._bound.tokens, least)  # the price is known
            sent = self._bound.tokens + self._bound.text // 8  # a format may write more than the request has
            if self._account.shortens:
                wanted = affordable_output(self._pricings, sent, left, wanted)
        return max(wanted, LEAST_OUTPUT_TOKENS)

    def _wanted(self, input_tokens: int, output_tokens: int | None) -> Held:
        output = output_tokens or 0
        self._sides = input_tokens, output
        tokens = 0
        if self._account.tokens_per_minute is not None:
            tokens = request_tokens(self.request) + output
        if not self._has_budget:
            return Held(tokens)
        least = self._usd(input_tokens, min(output, LEAST_OUTPUT_TOKENS))
        return Held(tokens, self._usd(input_tokens, output), least)

    def _usd(self, input_tokens: int, output_tokens: int) -> float:
        usd = most_usd(self._pricings, input_tokens, output_tokens)
        if usd is None:
            whys = "; ".join(dict.fromkeys(each.unbounded for each in self._pricings if each.unbounded))
            why = whys or f"no price of {self._pricing.model} is known"
            raise self._account.unbounded(why, "use a model with a price")
        return usd

    async def _hold(self, wanted: Held) -> None:
        """Hold ``wanted``, or what of it is not held yet."""
        held = self._held or Held()
        tokens, usd = max(0, wanted.tokens - held.tokens), max(0.0, wanted.usd - held.usd)
        if self._held is None or tokens or usd:
            await self._account.hold(Held(tokens, usd, wanted.least_usd), held)
            self._held = Held(held.tokens + tokens, held.usd + usd)

    async def _settle(self, took: Held, held: Held | None) -> None:
        await self._account.settle(held or Held(), took)

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
