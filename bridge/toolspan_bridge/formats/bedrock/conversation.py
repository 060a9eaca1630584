"""A conversation as Converse messages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...messages import Assistant, Request
from ..shared.conversation.alternating import alternating
from ..shared.conversation.history import (
    AssistantTurn,
    SentCall,
    ToolResultsTurn,
    Turn,
)
from ..shared.conversation.media import IMAGES, PDF
from ..shared.conversation.results import (
    NO_OUTPUT,
    Media,
    MediaQuota,
    MediaSupport,
    RenderedResult,
    render_parts,
    render_result,
)
from ..shared.json_values import as_object, objects, text

FORMAT = "bedrock"

LEGAL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_MAX_IMAGES = 20
_MAX_DOCUMENTS = 5
_MAX_MEDIA_BYTES = 3_750_000


def thinks(request: Request) -> bool:
    past = (message for message in request.messages if isinstance(message, Assistant))
    echoes = (objects(message.opaque) for message in past if message.opaque_format == FORMAT)
    return request.thinking or any("reasoningContent" in block for blocks in echoes for block in blocks)


def messages(history: Sequence[Turn], request: Request) -> list[dict[str, Any]]:
    return alternating(_blocks(turn, request, place) for place, turn in enumerate(history))


def _blocks(turn: Turn, request: Request, place: int) -> tuple[str, list[dict[str, Any]]]:
    if isinstance(turn, AssistantTurn):
        return "assistant", _echoed(turn) or _rewritten(turn)
    if isinstance(turn, ToolResultsTurn):
        return "user", _results(turn, request)
    files = render_parts(turn.parts, _media_support(request, later=False))
    shown = [_file(each, f"{place}-{number}") for number, each in enumerate(files)]
    return "user", [*shown, {"text": turn.text}]


def _echoed(turn: AssistantTurn) -> list[dict[str, Any]]:
    """The blocks as they came; empty when they do not fit the calls any more. Blank text is refused."""
    blocks = [
        block for block in objects(turn.echo(FORMAT)) if "text" not in block or text(block["text"]).strip()
    ]
    if sum(own_call(block) is not None for block in blocks) != len(turn.calls):
        return []
    calls = iter(turn.calls)
    return [_echoed_call(block, next(calls)) if own_call(block) is not None else block for block in blocks]


def _echoed_call(block: dict[str, Any], call: SentCall) -> dict[str, Any]:
    use = {**block["toolUse"], "toolUseId": call.id, "name": call.name, "input": call.arguments}
    return {**block, "toolUse": use}


def _rewritten(turn: AssistantTurn) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [{"text": turn.message.text}] if turn.message.text.strip() else []
    for call in turn.calls:
        blocks.append({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}})
    return blocks


def _results(turn: ToolResultsTurn, request: Request) -> list[dict[str, Any]]:
    """One block a result, before anything else. A message with a document needs a text beside it; a failed
    result may hold nothing but text, or Claude refuses it."""
    support, text_only = _media_support(request, later=True), MediaSupport(request.max_result_bytes)
    blocks = [
        _result(call, render_result(outcome, text_only if outcome.failed else support))
        for call, outcome in turn.results
    ]
    with_document = any("document" in part for block in blocks for part in block["toolResult"]["content"])
    return [*blocks, {"text": "Documents are in the results above."}] if with_document else blocks


def _result(call: SentCall, shown: RenderedResult) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if shown.text or shown.failed:
        content.append({"text": shown.text_with_error_mark})
    if shown.structured is not None:
        content.append({"json": shown.structured})
    content.extend(_file(file, f"{call.id}-{place}") for place, file in enumerate(shown.media))
    status = "error" if shown.failed else "success"
    content = content or [{"text": NO_OUTPUT}]
    return {"toolResult": {"toolUseId": call.id, "content": content, "status": status}}


def _file(file: Media | str, name: str) -> dict[str, Any]:
    if isinstance(file, str):
        return {"text": file}
    kind = file.mime.partition("/")[2]
    if file.is_image:
        return {"image": {"format": kind, "source": {"bytes": file.data}}}
    legal = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
    return {"document": {"format": kind, "name": f"document {legal}", "source": {"bytes": file.data}}}


def _media_support(request: Request, *, later: bool) -> MediaSupport:
    quota = {"application/pdf": _MAX_DOCUMENTS} | ({"image/": _MAX_IMAGES} if request.vision else {})
    return MediaSupport(
        request.max_result_bytes,
        media=(IMAGES if request.vision else frozenset[str]()) | PDF,
        max_media_bytes=_MAX_MEDIA_BYTES,
        quota=MediaQuota(quota),
        structured="object",
        later=PDF if later else frozenset[str](),
    )


def own_call(block: Mapping[str, Any]) -> dict[str, Any] | None:
    """The call in the block, unless the provider carries it out itself."""
    use = as_object(block.get("toolUse"))
    return None if use is None or use.get("type") == "server_tool_use" else use
