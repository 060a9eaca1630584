"""Anthropic's message batches: all requests in one body, the answers in a file of JSON lines.

Source: anthropic 2.12.0, ``resources/messages/batches.py``, ``types/messages/``; 100,000 requests and 256 MB
(platform.claude.com/docs/en/build-with-claude/batch-processing, read in November 2026).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from .contract import (
    BatchStatus,
    Channel,
    Limits,
    Outcome,
    State,
    WireBody,
)
from .reading import (
    MAX_RESULTS,
    count,
    json_lines,
    json_object,
    name_of,
    part,
    place_of,
    text,
)

__all__ = ["LIMITS", "create", "results", "status"]

LIMITS = Limits(100_000, 256_000_000)
_PATH = "/v1/messages/batches"
_WHY = {"canceled": "the batch was cancelled before it", "expired": "the batch expired before it"}
_HTTP_STATUSES = {
    "authentication_error": 401,
    "billing_error": 402,
    "invalid_request_error": 400,
    "not_found_error": 404,
    "overloaded_error": 529,
    "permission_error": 403,
    "rate_limit_error": 429,
    "request_too_large": 413,
}


async def create(channel: Channel, model: str, bodies: Sequence[WireBody]) -> str:
    """The id of the new batch."""
    requests = [{"custom_id": name_of(place), "params": each.body} for place, each in enumerate(bodies)]
    body = json.dumps({"requests": requests}, separators=(",", ":")).encode()
    made = await channel.exchange("POST", _PATH, body, once=True)
    return text(json_object(made, "the new batch").get("id"))


async def status(channel: Channel, batch_id: str, total: int) -> BatchStatus:
    """As ``Service.status``. The provider counts nothing before all have ended."""
    batch = json_object(await channel.exchange("GET", f"{_PATH}/{quote(batch_id, safe='')}"), "the batch")
    counts = part(batch, "request_counts")
    missed = sum(count(counts.get(kind)) for kind in ("errored", "canceled", "expired"))
    return BatchStatus(_state(batch, counts), total, count(counts.get("succeeded")), missed)


async def results(channel: Channel, batch_id: str, total: int) -> list[Outcome]:
    """As ``Service.results``. The address in the batch's ``results_url`` is not asked: it could be any."""
    path = f"{_PATH}/{quote(batch_id, safe='')}/results"
    content = await channel.exchange("GET", path, max_bytes=MAX_RESULTS)
    found = (_outcome(line, total) for line in json_lines(content, "a line of the results"))
    return [outcome for outcome in found if outcome is not None]


def _state(batch: dict[str, Any], counts: dict[str, Any]) -> State:
    if batch.get("processing_status") != "ended":
        return "running"
    if count(counts.get("canceled")):
        return "cancelled"
    return "expired" if count(counts.get("expired")) else "ended"


def _outcome(line: dict[str, Any], total: int) -> Outcome | None:
    place = place_of(line.get("custom_id"), total)
    if place is None:
        return None
    result = part(line, "result")
    kind = text(result.get("type"))
    if kind == "succeeded":
        return Outcome(place, body=result.get("message"))
    if kind == "errored":
        error = part(result, "error")
        status = _HTTP_STATUSES.get(text(part(error, "error").get("type")), 500)
        return Outcome(place, status, error)
    return Outcome(place, why=_WHY.get(kind, f"its result is {kind!r}"))
