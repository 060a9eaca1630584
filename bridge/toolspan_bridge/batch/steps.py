"""The steps of a batch: submitted, asked how far it is, its answers collected; or cancelled."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from ..errors import BridgeError, ProviderError, UnreachableError, UsageError
from ..messages import Reply, Request
from ..providers import Provider
from ..providers.wire.provider import WireProvider
from ..providers.wire.two_wires import TwoWires
from .handle import Batch
from .intention import Intention
from .services import service_of
from .services.contract import BatchStatus, Limits, Outcome, Service, WireBody

__all__ = [
    "BatchStatus",
    "cancel_batch",
    "collect_batch",
    "find_batch",
    "has_batches",
    "parts_of",
    "poll_batch",
    "price_share",
    "submit_batch",
    "was_refused",
]

_CHAT, _RESPONSES = "openai", "openai-responses"
_SERVER_ERROR, _TURNED_AWAY = 500, (503, 529)
_AROUND = 200  # bytes around each request: its id, its address


def has_batches(provider: Provider) -> bool:
    """Whether ``provider`` has a batch service that is known here."""
    return isinstance(provider, WireProvider | TwoWires) and bool(_wired(provider, "").batch_service)


def price_share(provider: Provider) -> float:
    """The share of a model's listed price that a request costs in a batch of ``provider``; 1 where there is
    no batch service."""
    wired = _wired(provider, "") if isinstance(provider, WireProvider | TwoWires) else None
    service = service_of(wired.batch_service) if wired else None
    return service.PRICE_SHARE if service else 1.0


async def parts_of(provider: Provider, requests: Mapping[str, Request]) -> list[tuple[str, ...]]:
    """The keys of ``requests`` in parts, in their order, of which each is within the limits of a batch; one
    request that is too large is a part by itself. Raises as ``submit_batch``."""
    wired, service = _service(provider, next((request.model for request in requests.values()), ""))
    parts: list[list[str]] = []
    left = 0
    for name, request in requests.items():
        size = _size(await _body(wired, replace(request, stream=False)))
        if not parts or size > left or len(parts[-1]) >= service.LIMITS.requests:
            parts.append([])
            left = service.LIMITS.size
        parts[-1].append(name)
        left -= size
    return [tuple(part) for part in parts]


async def submit_batch(
    provider: Provider,
    requests: Mapping[str, Request],
    *,
    intend: Callable[[Intention], None] = lambda intention: None,
) -> Batch:
    """Give ``requests``, all for one model, to the batch service of ``provider``. ``intend`` is told before
    anything is sent, for ``find_batch``.

    The keys are ids of any shape, by which ``collect_batch`` gives the answers. Raises ``UsageError`` when
    the provider has no such service or its limits are exceeded, else as ``Provider.answer``. A batch is never
    created twice: where its answer is lost, the error says so, and the provider's own list of batches tells.
    """
    model = next((request.model for request in requests.values()), "")
    wired, service = _service(provider, model)
    bodies = await _bodies(wired, requests)
    _check(wired.name, requests, bodies, service.LIMITS)
    batch = Batch(wired.name, "", model, _format_of(wired, bodies[0]), tuple(requests))
    mark = secrets.token_hex(16)
    intend(Intention(batch, mark if service.find else "", datetime.now(UTC)))
    try:
        batch_id = await service.create(wired, model, bodies, mark)
    except UnreachableError as lost:
        if not lost.was_sent:
            raise
        raise UnreachableError(f"{lost}; the batch may have been created all the same") from None
    if not batch_id:
        raise ProviderError(f"{wired.name} gave the new batch no id")
    return replace(batch, id=batch_id)


def was_refused(error: BridgeError) -> bool:
    """Whether ``error`` of ``submit_batch`` says that surely no batch was created."""
    if isinstance(error, ProviderError):
        return error.status is not None and (error.status < _SERVER_ERROR or error.status in _TURNED_AWAY)
    return not (isinstance(error, UnreachableError) and error.was_sent)


async def find_batch(provider: Provider, intention: Intention) -> Batch | None:
    """The batch that was created as ``intention`` says, ``None`` where there is none at ``provider``.

    Raises as ``poll_batch``, and ``UsageError`` where the provider's list shows no marks.
    """
    wired, service = _own(provider, intention.batch)
    if service.find is None or not intention.mark:
        raise UsageError(f"{wired.name} lists its batches without anything to find one by")
    found = await service.find(wired, intention.mark)
    return replace(intention.batch, id=found) if found else None


async def poll_batch(provider: Provider, batch: Batch) -> BatchStatus:
    """How far ``batch`` is.

    Raises as ``Provider.answer``, and ``UsageError`` for another provider's batch.
    """
    wired, service = _own(provider, batch)
    return await service.status(wired, batch.id, len(batch.ids))


async def collect_batch(provider: Provider, batch: Batch) -> dict[str, Reply | BridgeError]:
    """The answer to each request of a finished ``batch`` by its id, or the error that it met.

    Raises as ``poll_batch``, ``UsageError`` while the batch runs, ``ProviderError`` when all of it failed. It
    may be called again: nothing is removed at the provider.
    """
    wired, service = _own(provider, batch)
    total = len(batch.ids)
    status = await service.status(wired, batch.id, total)
    if not status.finished:
        raise UsageError(f"the batch {batch.id} still runs: collect it when it has ended")
    if status.state == "failed":
        raise ProviderError(
            f"{wired.name}: the batch {batch.id} failed: {status.trouble or 'no reason given'}"
        )
    outcomes = {outcome.place: outcome for outcome in await service.results(wired, batch.id, total)}
    missing = f"the batch is {status.state} and has no result for it"
    return {
        name: _answer(wired, batch, outcomes.get(place, Outcome(place, why=missing)))
        for place, name in enumerate(batch.ids)
    }


async def cancel_batch(provider: Provider, batch: Batch) -> BatchStatus:
    """Have ``batch`` ended before all of it is answered, and say how far it is: it may run on for a while.

    A batch that has ended stays as it is. ``collect_batch`` gives what was answered by then, and an error for
    each request that was not. Raises as ``poll_batch``.
    """
    wired, service = _own(provider, batch)
    total = len(batch.ids)
    status = await service.status(wired, batch.id, total)
    if status.finished:
        return status
    try:
        await service.cancel(wired, batch.id)
    except ProviderError:
        status = await service.status(wired, batch.id, total)
        if not status.finished:  # else it ended in between, and there was nothing to cancel
            raise
        return status
    return await service.status(wired, batch.id, total)


def _answer(wired: WireProvider, batch: Batch, outcome: Outcome) -> Reply | BridgeError:
    if outcome.body is None:
        return ProviderError(f"{wired.name} did not answer: {outcome.why or 'the result is empty'}")
    try:
        return wired.read(outcome.body, batch.model, wire_format=batch.format, status=outcome.status)
    except BridgeError as error:
        return error


def _service(provider: Provider, model: str) -> tuple[WireProvider, Service]:
    wired = _wired(provider, model) if isinstance(provider, WireProvider | TwoWires) else None
    service = service_of(wired.batch_service) if wired else None
    if wired is None or service is None:
        raise UsageError(f"{provider.name} has no batch service that is known here: ask each question singly")
    return wired, service


def _wired(provider: WireProvider | TwoWires, model: str) -> WireProvider:
    return provider.wire_for(model) if isinstance(provider, TwoWires) else provider


def _own(provider: Provider, batch: Batch) -> tuple[WireProvider, Service]:
    if provider.name != batch.provider:
        raise UsageError(f"the batch {batch.id} is at {batch.provider}, not at {provider.name}")
    return _service(provider, batch.model)


async def _bodies(wired: WireProvider, requests: Mapping[str, Request]) -> list[WireBody]:
    return [await _body(wired, replace(request, stream=False)) for request in requests.values()]


async def _body(wired: WireProvider, request: Request) -> WireBody:
    """A request as it would be sent by itself, but for what asks for a stream or for none."""
    sent = await wired.sent(request)
    body = json.loads(sent.body)
    body.pop("stream", None)
    return WireBody(wired.path_of(sent.url), body)


def _check(name: str, requests: Mapping[str, Request], bodies: Sequence[WireBody], limits: Limits) -> None:
    if not bodies:
        raise UsageError("a batch needs a request")
    if len({request.model for request in requests.values()}) > 1 or len({each.path for each in bodies}) > 1:
        raise UsageError("all requests of a batch are for one model: submit a batch for each model")
    if len(bodies) > limits.requests:
        raise UsageError(
            f"{name} takes {limits.requests:,} requests a batch, not {len(bodies):,}: submit several batches"
        )
    size = sum(map(_size, bodies))
    if size > limits.size:
        raise UsageError(f"{name} takes {limits.size:,} bytes a batch, not {size:,}: submit several batches")


def _size(body: WireBody) -> int:
    return len(json.dumps(body.body)) + _AROUND


def _format_of(wired: WireProvider, body: WireBody) -> str:
    """The format that reads the answers: of OpenAI's two the one that the request is sent to."""
    over, prompted, base = wired.format_name.rpartition(":")
    if base in (_CHAT, _RESPONSES):
        base = _RESPONSES if body.path.endswith("/responses") else _CHAT
    return f"{over}{prompted}{base}"
