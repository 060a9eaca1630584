"""What a provider made goes back to it as it came, and to no other: state, ids and names of calls.

Two providers of one wire format refuse each other's: a signature of Vertex AI's is no signature at Google's
other API, and encrypted reasoning is bound to the account that it was made for.
"""

from __future__ import annotations

from dataclasses import replace

from ...formats.prompt.renderings import Rendering, rendered
from ...messages import (
    Assistant,
    Message,
    Reply,
    Request,
)


def without_foreign_state(request: Request, provider: str) -> Request:
    """``request`` without the opaque state that came from others than ``provider``.

    What was saved before origins were noted stays: its format is all that is known of it.
    """
    if not any(_is_foreign(message, provider) for message in request.messages):
        return request
    messages = tuple(
        _stateless(message) if _is_foreign(message, provider) else message for message in request.messages
    )
    return replace(request, messages=messages)


def for_provider(request: Request, provider: str, rendering: Rendering | None) -> Request:
    """``request`` as ``provider`` is to get it: without others' state, and what its model wrote as text in
    ``rendering``; in none where text is the channel of calls."""
    own = without_foreign_state(request, provider)
    return own if rendering is None else rendered(own, rendering)


def from_provider(reply: Reply, provider: str) -> Reply:
    """``reply`` with its origin noted where it has state, or calls, to be sent back, or a text that may hold
    calls."""
    message = reply.message
    if message.opaque is None and not message.calls and not message.text:
        return reply
    return replace(reply, message=replace(message, origin=provider))


def _is_foreign(message: Message, provider: str) -> bool:
    return isinstance(message, Assistant) and message.origin not in ("", provider)


def _stateless(message: Message) -> Message:
    assert isinstance(message, Assistant)
    calls = tuple(replace(call, opaque=None) for call in message.calls)
    return replace(message, calls=calls, opaque=None, opaque_format="", origin="", written="")
