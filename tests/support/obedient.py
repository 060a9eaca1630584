"""A provider that bills the most that it was allowed, and the bill: for tests of what is held before."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

import anyio
from typing_extensions import override

from toolspan_bridge.errors import ProviderError, UnreachableError
from toolspan_bridge.messages import Assistant, Part, Reply, Request, Usage, User
from toolspan_bridge.messages.deltas import Delta, TextDelta
from toolspan_bridge.providers import Provider
from toolspan_bridge.providers.prices import Pricing

MODELS = (
    Pricing("openai", "gpt-5-mini"),
    Pricing("openai", "gpt-4o-mini"),
    Pricing("anthropic", "claude-sonnet-4-5"),
    Pricing("gemini", "gemini-2.5-pro"),
)
ALPHABETS = ("plain words ", "\x00\x01\x1b\x7f", "日本語の文", "🦀👩‍👩‍👧", "{}[]:,\"'\\")
End = Literal["answers", "counts nothing", "refuses", "is lost", "breaks off", "goes on for ever"]
ENDS: tuple[End, ...] = (
    "answers",
    "counts nothing",
    "refuses",
    "is lost",
    "breaks off",
    "goes on for ever",
)


@dataclass
class Bill:
    """What the provider wants to be paid, each amount with the time at which it was asked for."""

    clock: Clock
    amounts: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])

    def add(self, usd: float | None) -> None:
        assert usd is not None
        self.amounts.append((self.clock.now, usd))

    @property
    def total(self) -> float:
        return sum(usd for _, usd in self.amounts)


class Clock:
    now = 1_783_857_600.0  # 2026-07-12, 12:00 UTC

    def __call__(self) -> float:
        return self.now


class Obedient(Provider):
    """Writes as many tokens as it is let, reads as many as there are bytes, and bills all that it began,
    answered or not. Each request takes some attempts, which end by ``dice``; its client may ``give_up``."""

    name = "obedient"

    def __init__(
        self,
        dice: Random,
        bill: Bill,
        pricing: Pricing,
        give_up: Callable[[], None],
        ends: Sequence[End] = ENDS,
    ) -> None:
        self._ends = ends
        self._dice = dice
        self._give_up = give_up
        self._bill = bill
        self._pricing = pricing

    @override
    async def answer(self, request: Request) -> Reply:
        return await self._ended(request)

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        yield TextDelta("It ")
        yield await self._ended(request)

    @override
    async def aclose(self) -> None:
        pass

    async def _ended(self, request: Request) -> Reply:
        while True:
            usage = await self._attempt(request)
            end = self._dice.choice(self._ends)
            await self._pause()
            if end == "refuses":
                assert request.meter is not None
                request.meter.cost_nothing()
                if self._dice.random() < 0.5:
                    continue
                raise ProviderError("refused", status=429)
            self._bill.add(self._pricing.cost(usage))
            if end == "is lost":
                if self._dice.random() < 0.5:
                    continue  # it is asked again
                raise UnreachableError("the connection broke")
            if end == "goes on for ever":
                self._give_up()
                await anyio.sleep_forever()
            if end == "counts nothing":
                return Reply(Assistant("It is."), usage=Usage())
            if end == "breaks off":
                return Reply(Assistant("It"), "other", Usage(usage.input_tokens, 1), incomplete=True)
            return Reply(Assistant("It is."), usage=usage)

    async def _attempt(self, request: Request) -> Usage:
        """The tokens of an attempt: of what is sent, every byte may be one; of a picture what is the most."""
        assert request.meter is not None
        body = request.system + "".join(message.text for message in request.messages if message.text)  # type: ignore[union-attr]
        sent = body.encode() + b'{"role":"user"}' * self._dice.randrange(9)  # how a format frames it
        await request.meter.sends(sent, request.max_tokens)
        await self._pause()
        pictures = sum(len(message.parts) for message in request.messages if isinstance(message, User))
        image = 48_169 if "4o-mini" in self._pricing.name else 10_000
        read = len(sent) + pictures * image
        assert request.max_tokens is not None
        written = (
            request.max_tokens if self._dice.random() < 0.7 else self._dice.randint(1, request.max_tokens)
        )
        stored = self._dice.choice((0, read)) if self._pricing.provider == "anthropic" else 0
        return Usage(read, written, written_tokens=stored)

    async def _pause(self) -> None:
        if self._dice.random() < 0.05:
            self._give_up()
        for _ in range(self._dice.randrange(4)):
            await anyio.lowlevel.checkpoint()


def question(dice: Random) -> Request:
    text = "".join(dice.choice(dice.choice(ALPHABETS)) for _ in range(dice.randrange(400)))
    picture = Part(
        "image", {"type": "image", "data": "QUJD" * dice.randrange(1, 50), "mimeType": "image/png"}
    )
    parts = (picture,) * (dice.random() < 0.15)
    limit = dice.choice((None, None, None, 1, 16, 500, 5_000, 60_000))
    return Request("m", (User(text, parts),), max_tokens=limit, reasoning=dice.choice((None, "low", "high")))
