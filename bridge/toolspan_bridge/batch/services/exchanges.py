"""What the services say to their providers alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import ProviderError
from ...providers.wire.api import ProviderApi
from .contract import Outcome
from .reading import MAX_RESULTS, json_lines, json_object, place_of

__all__ = ["MOST_PAGES", "asked_for", "posted", "result_lines", "too_many"]

MOST_PAGES = 100
"""The most pages of a list of batches that are looked through."""


def too_many(name: str) -> ProviderError:
    """What is raised where a batch was not found on so many pages."""
    return ProviderError(f"{name} lists more batches than are looked through ({MOST_PAGES} pages)")


async def posted(provider: ProviderApi, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The new batch that ``body`` asks for; it is not asked for again where it may have been created."""
    sent = json.dumps(body, separators=(",", ":")).encode()
    return json_object(await provider.exchange("POST", path, sent, once=True), "the new batch")


async def asked_for(provider: ProviderApi, path: str) -> dict[str, Any]:
    """The batch at ``path``."""
    return json_object(await provider.exchange("GET", path, max_bytes=MAX_RESULTS), "the batch")


async def result_lines(
    provider: ProviderApi, path: str, total: int, outcome: Callable[[dict[str, Any], int], Outcome]
) -> list[Outcome]:
    """What came of each request of ours that has a line of JSON in the file at ``path``, with its
    ``custom_id``: ``outcome`` reads the line.
    """
    content = await provider.exchange("GET", path, max_bytes=MAX_RESULTS)
    found: list[Outcome] = []
    for line in json_lines(content, "a line of the results"):
        place = place_of(line.get("custom_id"), total)
        if place is not None:
            found.append(outcome(line, place))
    return found
