"""A provider that stands for several deployments: the first that answers does."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

import anyio
from typing_extensions import override

from ...errors import BridgeError, UnreachableError
from ...messages import Reply, Request
from ...messages.deltas import Delta
from ..contract import Provider
from ..prices import Pricing
from ..wire.replies import with_notes
from .circuit import Circuit
from .failures import asked_wait, is_overflow, is_passing, none_left
from .order import by_weight
from .replies import with_cost, with_restored
from .tried import Tried, on_tried

__all__ = ["Deployment", "DeploymentsProvider"]


@dataclass(frozen=True, slots=True)
class Deployment:
    """``model`` at ``provider``, called ``name`` (``provider/model``), with its price, its share and whether
    it may be asked."""

    name: str
    provider: Provider
    model: str
    pricing: Pricing
    circuit: Circuit
    weight: float = 1.0


class DeploymentsProvider(Provider):
    """The provider of the config's own model ``model`` (``models/NAME``).

    Each of ``deployments`` may take ``timeout`` seconds to the first piece of its answer; then, or when it is
    too busy, fails or is not reached, the next one is asked. A request that is too long goes to those of
    ``larger``. Nothing is asked again once a piece of an answer was given on. What was tried is told to
    ``on_tried``, and another than the first is noted in the reply.
    """

    def __init__(
        self,
        model: str,
        deployments: Sequence[Deployment],
        larger: Sequence[Deployment] = (),
        *,
        timeout: float,
        weighted: bool = False,
    ) -> None:
        self.name, _, self._model = model.partition("/")
        everyone = (*deployments, *larger)
        formats = {each.provider.format_name for each in everyone}
        self.format_name = formats.pop() if len(formats) == 1 else ""
        self.searches_tools = all(each.provider.searches_tools for each in everyone)
        self._deployments = tuple(deployments)
        self._larger = tuple(larger)
        self._timeout = timeout
        self._weighted = weighted

    @property
    def deployments(self) -> tuple[Deployment, ...]:
        """All of them, those for long requests last."""
        return (*self._deployments, *self._larger)

    @override
    async def answer(self, request: Request) -> Reply:
        """The answer of the first deployment that gives one. Raises as ``Provider.answer``."""
        round_ = self._round(request)
        while (deployment := round_.next()) is not None:
            try:
                with anyio.fail_after(self._timeout):
                    reply = await deployment.provider.answer(replace(request, model=deployment.model))
            except (BridgeError, TimeoutError) as error:
                round_.failed(deployment, _told(error, deployment, self._timeout))
            except BaseException:
                deployment.circuit.left()
                raise
            else:
                return round_.answered(deployment, self._own(reply, request, deployment))
        raise round_.error

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The same in pieces. Raises only before the first of them."""
        round_ = self._round(request)
        while (deployment := round_.next()) is not None:
            began = False
            try:
                pieces = deployment.provider.stream(replace(request, model=deployment.model))
                async with aclosing(pieces):
                    while (piece := await self._piece(pieces, waits=not began)) is not None:
                        if isinstance(piece, Reply):
                            piece = round_.answered(deployment, self._own(piece, request, deployment))
                        began = True
                        yield piece
                return
            except (BridgeError, TimeoutError) as error:
                told = _told(error, deployment, self._timeout)
                if began:
                    deployment.circuit.failed(asked_wait(told))
                    raise told from None
                round_.failed(deployment, told)
            except BaseException:
                deployment.circuit.left()
                raise
        raise round_.error

    @override
    async def aclose(self) -> None:
        """Close the connections of every deployment."""
        for each in self.deployments:
            await each.provider.aclose()

    async def _piece(self, pieces: AsyncGenerator[Delta | Reply], *, waits: bool) -> Delta | Reply | None:
        with anyio.fail_after(self._timeout if waits else None):
            return await anext(pieces, None)

    def _round(self, request: Request) -> _Round:
        order = self._deployments
        if self._weighted:
            order = tuple(by_weight(order, request.conversation))
        return _Round(f"{self.name}/{self._model}", order, self._larger)

    def _own(self, reply: Reply, request: Request, deployment: Deployment) -> Reply:
        if not self.format_name:
            reply = with_restored(reply, request, deployment.provider.format_name)
        return with_cost(reply, deployment.pricing, deployment.provider.price_share)


class _Round:
    """The deployments that one request is sent to, one after another."""

    def __init__(self, model: str, order: Sequence[Deployment], larger: Sequence[Deployment]) -> None:
        self._model = model
        self._left = list(order)
        self._larger = list(larger)
        self._is_large = False
        self._began = time.monotonic()
        self._tried: list[Tried] = []
        self._last: BridgeError | None = None
        self._waits: list[float] = []

    def next(self) -> Deployment | None:
        """The next one that may be asked."""
        while self._left:
            deployment = self._left.pop(0)
            self._began = time.monotonic()
            if deployment.circuit.take():
                return deployment
            wait = deployment.circuit.wait
            self._waits.append(wait)
            self._tell(Tried(deployment.name, "skipped", f"it failed, and is left alone for {wait:.1f} s"))
        return None

    def failed(self, deployment: Deployment, error: BridgeError) -> None:
        """Go on with the next one, where that may help; else raise ``error``."""
        self._tell(Tried(deployment.name, "failed", str(error), time.monotonic() - self._began))
        if is_overflow(error):
            deployment.circuit.succeeded()
            if not self._is_large:
                self._left, self._is_large = self._larger, True
            if not self._left:
                raise error
        elif is_passing(error):
            deployment.circuit.failed(asked_wait(error))
            self._waits.append(deployment.circuit.wait)
        else:
            deployment.circuit.left()
            raise error
        self._last = error

    def answered(self, deployment: Deployment, reply: Reply) -> Reply:
        """``reply``, which says so if another was asked before."""
        if reply.incomplete:
            deployment.circuit.failed()
        else:
            deployment.circuit.succeeded()
        notes = [f"{each.deployment} was not used ({each.reason})" for each in self._tried]
        self._tell(Tried(deployment.name, "answered", "", time.monotonic() - self._began))
        if not notes:
            return reply
        return with_notes(reply, (f"{'; '.join(notes)}: {deployment.name} answers",))

    @property
    def error(self) -> BridgeError:
        """Why nobody answered."""
        return none_left(self._model, self._tried, self._last, min(self._waits, default=0.0))

    def _tell(self, tried: Tried) -> None:
        self._tried.append(tried)
        tell = on_tried.get()
        if tell is not None:
            tell(tried)


def _told(error: BridgeError | TimeoutError, deployment: Deployment, timeout: float) -> BridgeError:
    if isinstance(error, BridgeError):
        return error
    return UnreachableError(f"{deployment.name} did not begin to answer within {timeout:g} s", timed_out=True)
