"""Limits concurrent calls per target and per kind, so that one that hangs cannot take every slot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from ....calls.client import (
    Client,
    ClientAnswer,
    ClientWrapper,
    NullClient,
    Question,
)
from ....calls.context import Context
from ....calls.slots import CallSlot, away
from .._concurrency_limits import ConcurrencyLimiter
from ..step import Step, StepInputs

if TYPE_CHECKING:
    from collections.abc import Generator

ORDER = 80

_NONE: frozenset[ConcurrencyLimiter] = frozenset()
_taken: ContextVar[frozenset[ConcurrencyLimiter]] = ContextVar("toolspan_concurrency", default=_NONE)
"""The limiters that this call or a calling one holds a slot of: a call never waits for itself."""


def build(following: Step, inputs: StepInputs) -> Step:
    """For tools whose calls depend on a target that may hang."""
    limiters = inputs.limiters.of(inputs.tool.config.implementation)
    return limited(following, limiters, inputs.call_slot, inputs.tool.timeout_ms) if limiters else following


def limited(
    following: Step,
    limiters: Sequence[ConcurrencyLimiter],
    call_slot: Callable[[], CallSlot],
    timeout_ms: int,
) -> Step:
    """Run ``following`` with a slot of each of ``limiters``. A queued call gives up its ``call_slot``.

    Raises ``ToolFailure``, which names the limit, when the queue is full or the timeout ends in it.
    """

    everything = frozenset(limiters)

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        before = _taken.get()
        taken: list[ConcurrencyLimiter] = []
        try:
            for limiter in limiters:
                if limiter in before:
                    continue
                if not limiter.take():
                    await _waited(limiter, call_slot(), context, timeout_ms)
                taken.append(limiter)
            token = _taken.set(before.union(taken) if before else everything)
            try:
                return await following(arguments, _yielding(context, taken))
            finally:
                _taken.reset(token)
        finally:
            for limiter in reversed(taken):
                limiter.leave()

    return step


async def _waited(limiter: ConcurrencyLimiter, slot: CallSlot, context: Context, timeout_ms: int) -> None:
    try:
        with away(slot):
            await limiter.turn(refuses=slot.refuses)
            await _ready(limiter, slot)
    except asyncio.CancelledError:
        if context.cancelled.is_set():
            raise limiter.timed_out(timeout_ms) from None
        raise


async def _ready(limiter: ConcurrencyLimiter, slot: CallSlot) -> None:
    try:
        await slot.ready()
    except BaseException:
        limiter.leave()
        raise


def _yielding(context: Context, taken: Sequence[ConcurrencyLimiter]) -> Context:
    if type(context.client) is NullClient or not taken:
        return context
    return replace(context, client=_Yielding(context.client, taken))


class _Yielding(ClientWrapper):
    """Frees the slots of ``limiters`` while ``client`` waits for a person's answer."""

    def __init__(self, client: Client, limiters: Sequence[ConcurrencyLimiter]) -> None:
        super().__init__(client)
        self._limiters = limiters

    @override
    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        """The client's answers; see ``Client.ask``."""
        with _left(self._limiters):
            return await super().ask(questions)


@contextmanager
def _left(limiters: Sequence[ConcurrencyLimiter]) -> Generator[None]:
    for limiter in limiters:
        limiter.leave()
    try:
        yield
    finally:
        for limiter in limiters:
            limiter.enter()
