"""Requests and each provider's answers to them, shared by the providers' tests."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from tests.support.provider_settings import instant
from tests.support.seed_tools import SEED_TOOLS
from toolspan_bridge.messages import (
    Assistant,
    Part,
    Reply,
    Request,
    ToolCall,
    ToolOutcome,
    ToolResults,
    User,
)
from toolspan_bridge.messages.deltas import TextDelta
from toolspan_bridge.providers import resolve_model
from toolspan_bridge.providers.http.settings import HttpSettings

QUESTION = (User("What's the weather in Paris?"),)
CALL = ToolCall("call_1", "config__get_weather", {"location": "Paris"})
ANSWERED = (
    *QUESTION,
    Assistant(calls=(CALL,)),
    ToolResults(
        (
            ToolOutcome(
                "call_1",
                "get_weather",
                {"success": True, "result": {"temperature": 22}, "tool_name": "get_weather"},
                (Part("text", {"type": "text", "text": '{"temperature": 22}'}),),
            ),
        )
    ),
)


async def ask(model: str, *, settings: HttpSettings | None = None, **fields: Any) -> Reply:
    """One answer of ``model`` to the weather question with the seed's tools, or to what ``fields`` say."""
    provider, name = resolve_model(model, settings or instant())
    async with aclosing(provider):
        request = Request(**{"model": name, "messages": QUESTION, "tools": SEED_TOOLS, **fields})
        return await provider.answer(request)


async def stream(model: str, **fields: Any) -> tuple[str, Reply]:
    """The text of the deltas of one streamed answer, and the answer."""
    provider, name = resolve_model(model, instant())
    request = Request(**{"model": name, "messages": QUESTION, "tools": SEED_TOOLS, **fields})
    text = ""
    async with aclosing(provider), aclosing(provider.stream(request)) as items:
        async for item in items:
            if isinstance(item, Reply):
                return text, item
            text += item.text if isinstance(item, TextDelta) else ""
    raise AssertionError("a stream ends with its reply")
