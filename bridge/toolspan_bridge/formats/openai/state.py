"""What of an assistant's message has to come back: its reasoning, in fields of its own or in the content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...messages.chat_traits import ChatTraits
from ..shared.conversation.history import AssistantTurn
from ..shared.json_values import as_object, objects, text
from ..shared.replies.thoughts import without_thoughts

FORMAT = "openai"
TEXTS = ("reasoning_content", "reasoning")
DETAILS = "reasoning_details"

_BLANK = " "


def state_of(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of ``message`` that a provider may want back, ``content`` among them if thinking stands in
    it, as chunks or in tags; ``None`` when there are none.
    """
    kept = {field: message[field] for field in (*TEXTS, DETAILS) if message.get(field)}
    content = message.get("content")
    thinks = any(chunk.get("type") == "thinking" for chunk in objects(content))
    if thinks or without_thoughts(text(content)) != text(content):
        kept["content"] = content
    return kept or None


def echoed(turn: AssistantTurn, chat: ChatTraits) -> dict[str, Any]:
    """The fields that go back with ``turn``, as the provider wants them."""
    state = as_object(turn.echo(FORMAT)) or {}
    sent: dict[str, Any] = {}
    if turn.calls or chat.echoes_text_turns:
        sent = {field: state[field] for field in chat.echoed if field in state}
    return {chat.demanded: _BLANK, **sent} if chat.demanded else sent


def thinking_text(content: Any) -> str:
    """The text of the thinking chunks in a message's content."""
    chunks = (chunk for chunk in objects(content) if chunk.get("type") == "thinking")
    return "".join(words_of(chunk.get("thinking")) for chunk in chunks)


def words_of(parts: Any) -> str:
    """The text of a list of text parts, or of a string."""
    texts: Iterable[str] = (text(part.get("text")) for part in objects(parts))
    return text(parts) or "".join(texts)
