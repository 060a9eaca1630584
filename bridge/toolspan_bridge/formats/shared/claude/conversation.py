"""Renders conversations for Claude, at Anthropic and in Bedrock's InvokeModel, as content blocks.

Source: anthropic 2.12.0, ``types/message_param.py`` and beside it. Rules that only the server states: results
come before all else in their message, failed ones hold text only, no text is blank, and no message of the
assistant ends with a thought.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ....messages import Assistant, Request, ToolOutcome
from ..conversation.alternating import alternating, as_text
from ..conversation.history import (
    AssistantTurn,
    SentCall,
    ToolResultsTurn,
    Turn,
    UserTurn,
    turns,
)
from ..conversation.media import IMAGES, PDF
from ..conversation.results import (
    NO_OUTPUT,
    Media,
    MediaSupport,
    RenderedResult,
    render_parts,
    render_result,
)
from ..json_values import objects, text
from .media import MediaSent, Room
from .parse import is_call
from .thinking import THOUGHTS

__all__ = ["has_thoughts", "messages"]

_LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MAX_MEDIA_BYTES = 3_750_000  # the API counts 5 MiB of base64


def messages(request: Request, format_name: str, room: Room, *, with_tools: bool) -> list[dict[str, Any]]:
    """User and assistant in turn, the user first. Without any tools, past calls are sent as text.

    Where there are more images or documents than there is ``room`` for, the earliest stay: what was sent once
    is sent again as it was, since models bind their thoughts to it and the provider's cache is by its bytes.
    """
    history = turns(request.messages, _LEGAL_ID, format_name)
    sent = history if with_tools else as_text(history, request)
    writer = _Writer(request, format_name, MediaSent(room))
    return alternating(list(_written(sent, writer)), type="text")


def _written(history: Sequence[Turn], writer: _Writer) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Turns of the assistant in a row are one: the first ones paused, and the last went on with them."""
    end = len(history)
    place = 0
    for is_assistant, group in groupby(history, lambda turn: isinstance(turn, AssistantTurn)):
        run = list(group)
        place += len(run)
        if is_assistant:
            said = [turn for turn in run if isinstance(turn, AssistantTurn)]
            yield "assistant", writer.assistant(said, last=place == end)
        else:
            yield from (("user", writer.user(turn)) for turn in run if not isinstance(turn, AssistantTurn))


def has_thoughts(request: Request, format_name: str) -> bool:
    """Whether the model is known to use extended thinking: then it cannot be forced to call a tool."""
    past = (message for message in request.messages if isinstance(message, Assistant))
    echoes = (objects(message.opaque) for message in past if message.opaque_format == format_name)
    return request.wire.thinking or any(
        block.get("type") in THOUGHTS for blocks in echoes for block in blocks
    )


class _Writer:
    def __init__(self, request: Request, format_name: str, sent: MediaSent) -> None:
        self._format_name = format_name
        self._media_support = MediaSupport(
            request.max_result_bytes,
            media=(IMAGES if request.vision else frozenset[str]()) | PDF,
            max_media_bytes=_MAX_MEDIA_BYTES,
            quota=sent,
        )
        self._text_only = MediaSupport(request.max_result_bytes)

    def user(self, turn: UserTurn | ToolResultsTurn) -> list[dict[str, Any]]:
        """The blocks of a question, or of results."""
        if isinstance(turn, UserTurn):
            return [*self._attached(turn), _text(turn.text)]
        shown = ((call, render_result(outcome, self._support_for(outcome))) for call, outcome in turn.results)
        return [_result(call, found) for call, found in shown]

    def assistant(self, run: Sequence[AssistantTurn], *, last: bool) -> list[dict[str, Any]]:
        """The blocks of turns in a row, the original ones where they can be sent back.

        A paused turn at the end is sent back unchanged, like one with calls that is whole: the provider
        continues it. From any other, blocks that must not be sent back are removed.
        """
        echoes = [_echoed(turn, self._format_name) for turn in run]
        goes_on = last or any(turn.calls and echo for turn, echo in zip(run, echoes, strict=True))
        blocks = [block for turn, echo in zip(run, echoes, strict=True) for block in echo or _rewritten(turn)]
        return blocks if goes_on else _settled(blocks)

    def _support_for(self, outcome: ToolOutcome) -> MediaSupport:
        return self._text_only if outcome.failed else self._media_support

    def _attached(self, turn: UserTurn) -> list[dict[str, Any]]:
        found = render_parts(turn.parts, self._media_support)
        return [_text(each) if isinstance(each, str) else _media(each) for each in found]


def _echoed(turn: AssistantTurn, format_name: str) -> list[dict[str, Any]]:
    """The original blocks, except blank text; empty when they no longer match the calls."""
    blocks = [
        block
        for block in objects(turn.echo(format_name))
        if block.get("type") != "text" or text(block.get("text")).strip()
    ]
    if sum(map(is_call, blocks)) != len(turn.calls):
        return []
    calls = iter(turn.calls)
    return [_echoed_call(block, next(calls)) if is_call(block) else block for block in blocks]


def _echoed_call(block: Mapping[str, Any], call: SentCall) -> dict[str, Any]:
    return {**block, "id": call.id, "name": call.name, "input": call.arguments}


def _settled(blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the provider's own calls that have no result, truncated thoughts, and thoughts at the end."""
    results = (block for block in blocks if text(block.get("type")).endswith("_tool_result"))
    finished = {text(block.get("tool_use_id")) for block in results}
    kept = [block for block in blocks if _is_whole(block, finished)]
    while kept and kept[-1].get("type") in THOUGHTS:
        kept.pop()
    return kept


def _is_whole(block: Mapping[str, Any], finished: set[str]) -> bool:
    kind = block.get("type")
    if kind == "server_tool_use":
        return block.get("id") in finished
    return kind != "thinking" or bool(block.get("signature"))


def _rewritten(turn: AssistantTurn) -> list[dict[str, Any]]:
    rendered = turn.message.text
    return [_text(rendered)] * bool(rendered.strip()) + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in turn.calls
    ]


def _result(call: SentCall, shown: RenderedResult) -> dict[str, Any]:
    content = [*_texts(shown), *(_media(file) for file in shown.media)]
    failed = {"is_error": True} if shown.failed else {}
    return {"type": "tool_result", "tool_use_id": call.id, "content": content, **failed}


def _texts(shown: RenderedResult) -> Iterator[dict[str, Any]]:
    if shown.text.strip() or not shown.media:
        yield _text(shown.text if shown.text.strip() else NO_OUTPUT)


def _text(rendered: str) -> dict[str, Any]:
    return {"type": "text", "text": rendered}


def _media(file: Media) -> dict[str, Any]:
    source = {"type": "base64", "media_type": file.mime, "data": file.data}
    if file.is_image:
        return {"type": "image", "source": source}
    titled = {"title": file.name[:200]} if file.name else {}
    return {"type": "document", "source": source, **titled}
