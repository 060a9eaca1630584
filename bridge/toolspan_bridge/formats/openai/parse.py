"""A Chat Completions answer, read."""

from __future__ import annotations

from typing import Any

from ...messages import Reply
from ..shared.contract import StreamFailed
from ..shared.json_values import (
    as_list,
    as_object,
    objects,
    text,
)
from ..shared.openai_errors import failed_in_stream
from ..shared.openai_usage import usage_of
from ..shared.replies.parse import (
    chat_calls,
    missing,
    read_body,
    reply,
)
from ..shared.replies.stops import stop_reason
from ..shared.replies.thoughts import without_thoughts
from .parallel import unwrapped
from .state import FORMAT, state_of


def parse_reply(body: Any) -> Reply:
    """``choices[0]``. Raises ``FormatError`` when there is no such message, ``StreamFailed`` when an error
    stands in its place, as OpenRouter sends it."""
    body = read_body(body)
    choice = next(iter(objects(body.get("choices"))), None)
    if choice is None:
        raise missing("choices", body)
    message = as_object(choice.get("message"))
    if message is None:
        raise missing("message", body)
    refusal = text(message.get("refusal"))
    calls = unwrapped(chat_calls(message, body))
    stop = "refusal" if refusal else stop_reason(choice.get("finish_reason"))
    said = content_text(message.get("content"))
    content = said if without_thoughts(said) else refusal or said
    failed = as_object(choice.get("error"))
    if failed and not without_thoughts(content) and not calls:
        raise StreamFailed(failed_in_stream(failed))
    return reply(
        content,
        calls,
        body=body,
        stop=stop,
        finish=text(choice.get("finish_reason")),
        usage=usage_of(body, "prompt", "completion"),
        opaque=state_of(message),
        format_name=FORMAT,
    )


def content_text(content: Any) -> str:
    """The text of a message's content: a string, or a list of parts."""
    if as_list(content) is None:
        return text(content)
    return "".join(text(part.get("text")) for part in objects(content))
