"""What a provider's batch service offers, and the data that it takes and gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from ...providers.wire.api import ProviderApi

__all__ = ["BatchStatus", "Limits", "Outcome", "Service", "State", "WireBody"]

State = Literal["running", "ended", "failed", "cancelled", "expired"]
"""Where a batch stands: all but ``running`` are final. ``ended`` has a result for each request, a failure
perhaps; ``cancelled`` and ``expired`` have results for some."""


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """How far a batch is: of ``total`` requests ``succeeded`` and ``failed`` are through, as far as the
    provider counts them; ``trouble`` is what it says of a batch that failed.
    """

    state: State
    total: int
    succeeded: int = 0
    failed: int = 0
    trouble: str = ""

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self.state != "running"


@dataclass(frozen=True, slots=True)
class Limits:
    """The most requests of a batch, and the most bytes of all of them together."""

    requests: int
    size: int


@dataclass(frozen=True, slots=True)
class WireBody:
    """A request as it would be sent by itself: the ``path`` after the base address, and the body."""

    path: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the request at ``place``: the ``body`` of an answer, or of an error where ``status`` says
    so; no body, but the reason ``why``, where the provider did not get to it.
    """

    place: int
    status: int = 200
    body: Any = None
    why: str = ""


class Service(Protocol):
    """A provider's batch service."""

    LIMITS: Limits
    PRICE_SHARE: float
    """What a request costs, as a share of what it costs by itself."""

    find: Callable[[ProviderApi, str], Awaitable[str]] | None
    """The id of the batch that was created with a mark, empty for none; ``None`` where the provider's list of
    batches shows no mark."""

    async def create(self, provider: ProviderApi, model: str, bodies: Sequence[WireBody], mark: str) -> str:
        """The id of the new batch, which ``find`` finds by ``mark``."""
        ...

    async def status(self, provider: ProviderApi, batch_id: str, total: int) -> BatchStatus:
        """How far the batch is."""
        ...

    async def results(self, provider: ProviderApi, batch_id: str, total: int) -> list[Outcome]:
        """What came of the requests, in any order; some may be missing."""
        ...

    async def cancel(self, provider: ProviderApi, batch_id: str) -> None:
        """Have the batch ended; what it has answered by then is kept."""
        ...
