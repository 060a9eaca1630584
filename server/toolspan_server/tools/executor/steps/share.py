"""What hangs takes no more than its share of the calls that run."""

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
from .._concurrency_limits import Share
from ..step import Step, StepInputs

if TYPE_CHECKING:
    from collections.abc import Generator

ORDER = 80

_NONE: frozenset[Share] = frozenset()
_taken: ContextVar[frozenset[Share]] = ContextVar("toolspan_shares", default=_NONE)
"""The shares that the call, or one that it is made by, has room in: a call never waits for itself."""


def build(following: Step, inputs: StepInputs) -> Step:
    """For tools whose calls depend on something that may hang."""
    shares = inputs.shares.of(inputs.tool.config.implementation)
    return sharing(following, shares, inputs.place, inputs.tool.timeout_ms) if shares else following


def sharing(following: Step, shares: Sequence[Share], place: Callable[[], CallSlot], timeout_ms: int) -> Step:
    """Run ``following`` with room in each of ``shares``. What waits for it has left its ``place``.

    Raises ``ToolFailure`` that names the limit when too many wait, and when the time is over meanwhile.
    """

    everything = frozenset(shares)

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        before = _taken.get()
        taken: list[Share] = []
        try:
            for share in shares:
                if share in before:
                    continue
                if not share.take():
                    await _waited(share, place(), context, timeout_ms)
                taken.append(share)
            token = _taken.set(before.union(taken) if before else everything)
            try:
                return await following(arguments, _yielding(context, taken))
            finally:
                _taken.reset(token)
        finally:
            for share in reversed(taken):
                share.leave()

    return step


async def _waited(share: Share, place: CallSlot, context: Context, timeout_ms: int) -> None:
    try:
        with away(place):
            await share.turn(refuses=place.refuses)
            await _ready(share, place)
    except asyncio.CancelledError:
        if context.cancelled.is_set():
            raise share.timed_out(timeout_ms) from None
        raise


async def _ready(share: Share, place: CallSlot) -> None:
    try:
        await place.ready()
    except BaseException:
        share.leave()
        raise


def _yielding(context: Context, taken: Sequence[Share]) -> Context:
    if type(context.client) is NullClient or not taken:
        return context
    return replace(context, client=_Yielding(context.client, taken))


class _Yielding(ClientWrapper):
    """``client`` of a call that gives up its room in ``shares`` while a person is asked."""

    def __init__(self, client: Client, shares: Sequence[Share]) -> None:
        super().__init__(client)
        self._shares = shares

    @override
    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        """The client's answers; see ``Client.ask``."""
        with _left(self._shares):
            return await super().ask(questions)


@contextmanager
def _left(shares: Sequence[Share]) -> Generator[None]:
    for share in shares:
        share.leave()
    try:
        yield
    finally:
        for share in shares:
            share.enter()
