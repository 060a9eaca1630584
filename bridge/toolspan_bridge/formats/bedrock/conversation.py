"""A conversation as Converse messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
from ..shared.json_values import as_object, at, objects, text
from .citations import block_text
from .families import Family, family

FORMAT = "bedrock"

LEGAL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_RECEIVED = "(Results received.)"
_MAX_IMAGES = 20
_MAX_DOCUMENTS = 5
_MAX_MEDIA_BYTES = 3_750_000


def thinks(request: Request) -> bool:
    past = (message for message in request.messages if isinstance(message, Assistant))
    echoes = (objects(message.opaque) for message in past if message.opaque_format == FORMAT)
    return request.wire.thinking or any("reasoningContent" in block for blocks in echoes for block in blocks)


def messages(history: Sequence[Turn], request: Request) -> list[dict[str, Any]]:
    """``{"role", "content"}`` a turn, the user's first, neighbours of one role merged."""
    return alternating(_apart(_blocks(history, request), family(request.model)))


def _apart(
    turns: Iterable[tuple[str, list[dict[str, Any]]]], known: Family
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """``turns`` with a word of the model's between results and what may not share a message with them."""
    with_results = False
    for role, blocks in turns:
        if role == "assistant":
            with_results = False
        elif with_results and not known.beside.issuperset(map(_kind, blocks)):
            with_results = False
            yield "assistant", [{"text": _RECEIVED}]
        yield role, blocks
        with_results |= role == "user" and any("toolResult" in block for block in blocks)


def _kind(block: Mapping[str, Any]) -> str:
    return next(iter(block))


def _blocks(history: Sequence[Turn], request: Request) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for place, turn in enumerate(history):
        if isinstance(turn, AssistantTurn):
            yield "assistant", _echoed(turn, request) or _rewritten(turn)
        elif isinstance(turn, ToolResultsTurn):
            results, files = _results(turn, request)
            yield "user", results
            yield "user", files
        else:
            shown = render_parts(turn.parts, _media_support(request))
            files = [_file(each, f"{place}-{number}") for number, each in enumerate(shown)]
            yield "user", [*files, {"text": turn.text}]


def _echoed(turn: AssistantTurn, request: Request) -> list[dict[str, Any]]:
    """The blocks as they came; empty when they do not fit the calls any more, or hold a provider's own tools
    that the model's family does not know, or that a request without tools may not hold. Blank text is
    refused, and so are thoughts that the family has not signed.
    """
    known = family(request.model)
    thoughts = known.thoughts
    given = objects(turn.echo(FORMAT))
    if not known.cites:
        given = [{"text": block_text(each)} if "citationsContent" in each else each for each in given]
    blocks = [
        block
        for block in given
        if ("text" not in block or text(block["text"]).strip())
        and ("reasoningContent" not in block or (thoughts and _is_signed(block)))
    ]
    if sum(own_call(block) is not None for block in blocks) != len(turn.calls):
        return []
    if not known.status and any("toolResult" in block for block in blocks):
        return []
    if not request.tools and any("toolUse" in block or "toolResult" in block for block in blocks):
        return []
    calls = iter(turn.calls)
    return [_echoed_call(block, next(calls)) if own_call(block) is not None else block for block in blocks]


def _is_signed(block: Mapping[str, Any]) -> bool:
    thought = as_object(block["reasoningContent"]) or {}
    return "redactedContent" in thought or bool(text(at(thought, "reasoningText", "signature")))


def _echoed_call(block: dict[str, Any], call: SentCall) -> dict[str, Any]:
    use = {**block["toolUse"], "toolUseId": call.id, "name": call.name, "input": call.arguments}
    return {**block, "toolUse": use}


def _rewritten(turn: AssistantTurn) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [{"text": turn.message.text}] if turn.message.text.strip() else []
    for call in turn.calls:
        blocks.append({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}})
    return blocks


def _results(turn: ToolResultsTurn, request: Request) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """One block a result, before anything else; and the files that follow them.

    A message with a document needs a text beside it; a failed result may hold nothing but text, or Claude
    refuses it.
    """
    known = family(request.model)
    support, text_only = _result_support(request, known), MediaSupport(request.max_result_bytes)
    blocks: list[dict[str, Any]] = []
    followers: list[dict[str, Any]] = []
    for call, outcome in turn.results:
        shown = render_result(outcome, text_only if outcome.failed else support)
        inside = [file for file in shown.media if _where(file, known) == "inside"]
        blocks.append(_result(call, shown, inside, known))
        after = [file for file in shown.media if file not in inside]
        if after:
            followers.append({"text": f"From the tool {call.name}:"})
        followers += [_file(file, f"{call.id}-after-{place}") for place, file in enumerate(after)]
    if any("document" in part for block in blocks for part in block["toolResult"]["content"]):
        blocks.append({"text": "Documents are in the results above."})
    return blocks, followers


def _where(file: Media, known: Family) -> str:
    return known.images if file.is_image else known.documents


def _result(call: SentCall, shown: RenderedResult, inside: Sequence[Media], known: Family) -> dict[str, Any]:
    content = [{"json": _as_json(shown)}] if known.results == "json" else _as_text(shown)
    content += [_file(file, f"{call.id}-{place}") for place, file in enumerate(inside)]
    result = {"toolUseId": call.id, "content": content or [{"text": NO_OUTPUT}]}
    status = {"status": "error" if shown.failed else "success"} if known.status else {}
    return {"toolResult": {**result, **status}}


def _as_text(shown: RenderedResult) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    if shown.text or shown.failed:
        content.append({"text": shown.text_with_error_mark})
    if shown.structured is not None:
        content.append({"json": shown.structured})
    return content


def _as_json(shown: RenderedResult) -> dict[str, Any]:
    """The result as one object, whatever it is."""
    if (found := as_object(shown.structured)) is not None and not shown.text:
        return found
    said = {"error" if shown.failed else "text": shown.text or NO_OUTPUT}
    return said if shown.structured is None else {"output": shown.structured, **said}


def _file(file: Media | str, name: str) -> dict[str, Any]:
    if isinstance(file, str):
        return {"text": file}
    kind = file.mime.partition("/")[2]
    if file.is_image:
        return {"image": {"format": kind, "source": {"bytes": file.data}}}
    legal = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
    return {"document": {"format": kind, "name": f"document {legal}", "source": {"bytes": file.data}}}


def _media_support(request: Request) -> MediaSupport:
    quota = {"application/pdf": _MAX_DOCUMENTS} | ({"image/": _MAX_IMAGES} if request.vision else {})
    return MediaSupport(
        request.max_result_bytes,
        media=(IMAGES if request.vision else frozenset[str]()) | PDF,
        max_media_bytes=_MAX_MEDIA_BYTES,
        quota=MediaQuota(quota),
    )


def _result_support(request: Request, known: Family) -> MediaSupport:
    """For the results of one turn. A file is announced in the text unless it is an image inside."""
    every = _media_support(request)
    images = every.media & IMAGES if known.images != "described" else frozenset[str]()
    documents = PDF if known.documents != "described" else frozenset[str]()
    return replace(
        every,
        media=images | documents,
        structured="none" if known.results == "text" else "object",
        later=documents | (images if known.images == "after" else frozenset[str]()),
    )


def own_call(block: Mapping[str, Any]) -> dict[str, Any] | None:
    """The call in the block, unless the provider carries it out itself."""
    use = as_object(block.get("toolUse"))
    return None if use is None or use.get("type") == "server_tool_use" else use
