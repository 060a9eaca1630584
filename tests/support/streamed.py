"""What a provider streams: its deltas, and the reply at the end."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from tests.support.provider_cases import QUESTION
from tests.support.provider_settings import instant
from tests.support.seed_tools import SEED_TOOLS
from toolspan_bridge.messages import Reply, Request
from toolspan_bridge.messages.deltas import Delta
from toolspan_bridge.providers import resolve_model


async def streamed(model: str, **fields: Any) -> tuple[list[Delta], Reply]:
    """The streamed answer of ``model`` to the weather question, or to what ``fields`` say."""
    provider, name = resolve_model(model, instant())
    async with aclosing(provider):
        request = Request(**{"model": name, "messages": QUESTION, "tools": SEED_TOOLS, **fields})
        items = [item async for item in provider.stream(request)]
    *deltas, reply = items
    assert isinstance(reply, Reply) and not any(isinstance(item, Reply) for item in deltas)
    return [item for item in deltas if not isinstance(item, Reply)], reply
