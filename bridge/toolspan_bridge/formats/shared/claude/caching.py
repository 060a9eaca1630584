"""Where Claude's provider is to keep the beginning of a request, so that the next one costs a tenth of it.

Writing into the cache costs a quarter more than not: so only what is likely to be sent again is kept. That is
a request with tools, whose results follow, or one of a conversation that has begun.
Source: platform.claude.com, "Prompt caching", read in November 2026: up to four marks a request, of which the
one at the top of the body is set at its last block by the provider. Bedrock and Vertex AI do not know that.
"""

from __future__ import annotations

from typing import Any

from ....messages import Assistant, Request
from .models import UNKNOWN, family
from .thinking import THOUGHTS

__all__ = ["cached", "end_marked"]

_MARK = {"cache_control": {"type": "ephemeral"}}


def cached(body: dict[str, Any], request: Request, *, top_level: bool) -> dict[str, Any]:
    """``body`` with its marks: after tools and system prompt, and at its end; as it is where none would save.

    ``top_level``: whether the provider finds the end itself.
    """
    if not _saves(request):
        return body
    body = _beginning_marked(body)
    return {**_MARK, **body} if top_level else end_marked(body)


def _saves(request: Request) -> bool:
    goes_on = any(isinstance(message, Assistant) for message in request.messages)
    return request.cache and family(request.model) is not UNKNOWN and (bool(request.tools) or goes_on)


def _beginning_marked(body: dict[str, Any]) -> dict[str, Any]:
    if system := body.get("system"):
        return {**body, "system": [{"type": "text", "text": system, **_MARK}]}
    tools = body.get("tools", [])
    last = max((place for place, tool in enumerate(tools) if not tool.get("defer_loading")), default=None)
    if last is None:
        return body
    return {**body, "tools": [{**tool, **_MARK} if at == last else tool for at, tool in enumerate(tools)]}


def end_marked(body: dict[str, Any]) -> dict[str, Any]:
    """``body`` with the mark at the last block of its messages, unless that is a thought."""
    *before, last = body["messages"]
    *blocks, end = last["content"]
    if end.get("type") in THOUGHTS:
        return body
    return {**body, "messages": [*before, {**last, "content": [*blocks, {**end, **_MARK}]}]}
