"""Anthropic's message batches: all requests in one body, the answers in a file of JSON lines.

Source: anthropic 2.12.0, ``resources/messages/batches.py``, ``types/messages/``; 100,000 requests and 256 MB
(platform.claude.com/docs/en/build-with-claude/batch-processing, read in November 2026).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ...formats.shared.claude.parse import status_of
from ...providers.wire.api import ProviderApi
from .contract import BatchStatus, Limits, Outcome, State, WireBody
from .exchanges import asked_for, posted, result_lines
from .reading import count, name_of, part, text

__all__ = ["LIMITS", "PRICE_SHARE", "cancel", "create", "find", "results", "status"]

LIMITS = Limits(100_000, 256_000_000)
PRICE_SHARE = 0.5
find = None
"""The list of batches has ids, times and counts, and nothing that a caller could give (anthropic 2.12.0,
``types/messages/message_batch.py``)."""

_PATH = "/v1/messages/batches"
_WHY = {"canceled": "the batch was cancelled before it", "expired": "the batch expired before it"}


async def create(provider: ProviderApi, model: str, bodies: Sequence[WireBody], mark: str) -> str:
    """The id of the new batch."""
    requests = [{"custom_id": name_of(place), "params": each.body} for place, each in enumerate(bodies)]
    return text((await posted(provider, _PATH, {"requests": requests})).get("id"))


async def status(provider: ProviderApi, batch_id: str, total: int) -> BatchStatus:
    """As ``Service.status``. The provider counts nothing before all have ended."""
    batch = await asked_for(provider, _of(batch_id))
    counts = part(batch, "request_counts")
    missed = sum(count(counts.get(kind)) for kind in ("errored", "canceled", "expired"))
    return BatchStatus(_state(batch, counts), total, count(counts.get("succeeded")), missed)


async def results(provider: ProviderApi, batch_id: str, total: int) -> list[Outcome]:
    """As ``Service.results``. The address in the batch's ``results_url`` is not asked: it could be any."""
    return await result_lines(provider, f"{_of(batch_id)}/results", total, _outcome)


async def cancel(provider: ProviderApi, batch_id: str) -> None:
    """As ``Service.cancel``."""
    await provider.exchange("POST", f"{_of(batch_id)}/cancel")


def _of(batch_id: str) -> str:
    return f"{_PATH}/{quote(batch_id, safe='')}"


def _state(batch: dict[str, Any], counts: dict[str, Any]) -> State:
    if batch.get("processing_status") != "ended":
        return "running"
    if count(counts.get("canceled")):
        return "cancelled"
    return "expired" if count(counts.get("expired")) else "ended"


def _outcome(line: dict[str, Any], place: int) -> Outcome:
    result = part(line, "result")
    kind = text(result.get("type"))
    if kind == "succeeded":
        return Outcome(place, body=result.get("message"))
    if kind == "errored":
        error = part(result, "error")
        return Outcome(place, status_of(text(part(error, "error").get("type"))), error)
    return Outcome(place, why=_WHY.get(kind, f"its result is {kind!r}"))
