"""Many requests at once, answered within a day at about half the price, by a provider's batch service.

    batch = await submit_batch(provider, {"monday": request, "tuesday": other})
    batch.save(Path("batch.json"))          # another process goes on from here
    while not (await poll_batch(provider, batch)).finished: ...
    answers = await collect_batch(provider, batch)    # {"monday": Reply, "tuesday": ProviderError}
    await cancel_batch(provider, batch)     # in place of waiting on: what is answered by then is kept

Requests are rendered and answers parsed by the provider's wire format, as those of single questions are.
"""

from __future__ import annotations

from .handle import Batch
from .intention import Intention
from .steps import (
    BatchStatus,
    cancel_batch,
    collect_batch,
    find_batch,
    has_batches,
    parts_of,
    poll_batch,
    price_share,
    submit_batch,
    was_refused,
)

__all__ = [
    "Batch",
    "BatchStatus",
    "Intention",
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
