"""How many tokens something has, estimated: no model's own tokenizer is here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ...messages import (
    Assistant,
    Message,
    Part,
    Request,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
)
from ...providers.wire.tokens import IMAGE_TOKENS, text_tokens

__all__ = [
    "message_tokens",
    "messages_tokens",
    "outcome_text",
    "request_tokens",
    "tools_tokens",
    "turn_tokens",
]

_MESSAGE_TOKENS = 4
_MEDIA = ("image", "audio")


def turn_tokens(request: Request, message: Assistant) -> int:
    """The estimated tokens of a turn: of the whole ``request``, and of the reply's ``message``."""
    return request_tokens(request) + message_tokens(message)


def request_tokens(request: Request) -> int:
    """The estimated tokens of ``request``: its system prompt, its tools and its messages."""
    return text_tokens(request.system) + tools_tokens(request.tools) + messages_tokens(request.messages)


def messages_tokens(messages: Iterable[Message]) -> int:
    """The estimated tokens of ``messages``."""
    return sum(message_tokens(message) for message in messages)


def message_tokens(message: Message) -> int:
    """The estimated tokens of one message."""
    match message:
        case User(text=text, parts=parts):
            return _MESSAGE_TOKENS + text_tokens(text) + _parts_tokens(parts)
        case Assistant(text=text, calls=calls):
            said = _MESSAGE_TOKENS + text_tokens(text) + _opaque_tokens(message.opaque)
            return said + sum(text_tokens(call.name) + text_tokens(call.raw) for call in calls)
        case ToolResults(outcomes=outcomes):
            return sum(_MESSAGE_TOKENS + _outcome_tokens(outcome) for outcome in outcomes)


def tools_tokens(tools: Sequence[ToolSpec]) -> int:
    """The estimated tokens of the definitions of ``tools``."""
    return sum(
        text_tokens(tool.name) + text_tokens(tool.description) + text_tokens(json.dumps(dict(tool.schema)))
        for tool in tools
    )


def outcome_text(outcome: ToolOutcome) -> str:
    """What a model is shown of ``outcome`` as text, whole."""
    texts = [str(part.data.get("text", "")) for part in outcome.parts if part.type == "text"]
    if texts:
        return "\n\n".join(text for text in texts if text.strip())
    shown = outcome.structured
    if shown is None:
        shown = outcome.result.get("error" if outcome.failed else "result")
    return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)


def _outcome_tokens(outcome: ToolOutcome) -> int:
    return text_tokens(outcome_text(outcome)) + _parts_tokens(
        [part for part in outcome.parts if part.type != "text"]
    )


def _parts_tokens(parts: Iterable[Part]) -> int:
    return sum(
        IMAGE_TOKENS if part.type in _MEDIA else text_tokens(json.dumps(dict(part.data))) for part in parts
    )


def _opaque_tokens(opaque: Any) -> int:
    """Those of a provider's own state, which repeats the text and the calls beside the thoughts."""
    return 0 if opaque is None else text_tokens(json.dumps(opaque, default=str)) // 2
