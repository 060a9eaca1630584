"""Gemini's batches at the Developer API: all requests in one body, the answers in the batch itself.

Source: google-genai 3.4.0, ``batches.py``; ai.google.dev/api/batch-api (read in November 2026): 20 MB of
requests, answers in their order. Answers may come without the metadata of their request
(discuss.ai.google.dev/t/112386): then the order tells which is which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ...errors import ProviderError
from ...providers.wire.api import ProviderApi
from .contract import BatchStatus, Limits, Outcome, State, WireBody
from .exchanges import MOST_PAGES, asked_for, posted, too_many
from .reading import count, name_of, objects, part, place_of, text

__all__ = ["LIMITS", "PRICE_SHARE", "cancel", "create", "find", "results", "status"]

LIMITS = Limits(100_000, 20_000_000)
PRICE_SHARE = 0.5
_STATES: dict[str, State] = {
    "CANCELLED": "cancelled",
    "EXPIRED": "expired",
    "FAILED": "failed",
    "PARTIALLY_SUCCEEDED": "ended",
    "SUCCEEDED": "ended",
}
_HTTP_STATUSES = {3: 400, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 14: 503, 16: 401}
"""Of the codes of gRPC, which errors of single requests bear."""


async def create(provider: ProviderApi, model: str, bodies: Sequence[WireBody], mark: str) -> str:
    """The name of the new batch, ``batches/ID``, whose display name has ``mark``."""
    requests = [
        {"request": each.body, "metadata": {"key": name_of(place)}} for place, each in enumerate(bodies)
    ]
    batch = {"displayName": _shown(mark), "inputConfig": {"requests": {"requests": requests}}}
    path = bodies[0].path.rpartition(":")[0] + ":batchGenerateContent"
    return text((await posted(provider, path, {"batch": batch})).get("name"))


async def find(provider: ProviderApi, mark: str) -> str:
    """As ``Service.find``: the list is read page by page."""
    token = ""
    for _ in range(MOST_PAGES):
        page = await asked_for(provider, f"/v1beta/batches?pageSize=100{token}")
        for operation in objects(page.get("operations")):
            if part(operation, "metadata").get("displayName") == _shown(mark):
                return text(operation.get("name"))
        if not (following := text(page.get("nextPageToken"))):
            return ""
        token = f"&pageToken={quote(following, safe='')}"
    raise too_many(provider.name)


async def status(provider: ProviderApi, batch_id: str, total: int) -> BatchStatus:
    """As ``Service.status``."""
    operation = await asked_for(provider, _of(batch_id))
    metadata = part(operation, "metadata")
    counts = part(metadata, "batchStats")
    state = text(metadata.get("state")).rpartition("STATE_")[2]
    return BatchStatus(
        _STATES.get(state, "failed" if operation.get("error") else "running"),
        total,
        count(counts.get("successfulRequestCount")),
        count(counts.get("failedRequestCount")),
        text(part(operation, "error").get("message")),
    )


async def results(provider: ProviderApi, batch_id: str, total: int) -> list[Outcome]:
    """As ``Service.results``."""
    operation = await asked_for(provider, _of(batch_id))
    given = _responses(part(operation, "response")) or _responses(part(operation, "metadata", "output"))
    keys = [place_of(part(each, "metadata").get("key"), total) for each in given]
    if None in keys and len(given) != total:
        raise ProviderError(f"the batch has {len(given)} answers to {total} requests, some without a name")
    named = enumerate(zip(keys, given, strict=True))
    return [_outcome(place if key is None else key, each) for place, (key, each) in named]


async def cancel(provider: ProviderApi, batch_id: str) -> None:
    """As ``Service.cancel``."""
    await provider.exchange("POST", f"{_of(batch_id)}:cancel")


def _shown(mark: str) -> str:
    return f"toolspan {mark}"


def _of(batch_id: str) -> str:
    return f"/v1beta/batches/{quote(batch_id.removeprefix('batches/'), safe='')}"


def _responses(output: dict[str, Any]) -> list[dict[str, Any]]:
    """``inlinedResponses``, an object that holds a list of the same name."""
    return objects(part(output, "inlinedResponses").get("inlinedResponses"))


def _outcome(place: int, each: dict[str, Any]) -> Outcome:
    error = part(each, "error")
    if not error:
        return Outcome(place, body=each.get("response"))
    code = count(error.get("code"))
    return Outcome(place, code if code >= 400 else _HTTP_STATUSES.get(code, 500), {"error": error})
