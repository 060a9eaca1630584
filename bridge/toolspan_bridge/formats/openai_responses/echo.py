"""A turn of the model's, sent back item by item as it came, or without its state where that is not possible.

The API holds items together by their ids: a call is refused without the reasoning that led to it, reasoning
without the item after it, and an id that comes twice. So a turn goes back whole, or all of it without ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...messages import Request
from ..shared.conversation.history import AssistantTurn, SentCall
from ..shared.json_values import as_list, compact, is_object, load, objects, text
from ..shared.openai_models import reasons
from .parts import item_text

FORMAT = "openai-responses"
"""The name of the format whose state these items are."""

_NEEDED: dict[str, tuple[str, ...]] = {
    "code_interpreter_call": ("container_id",),
    "tool_search_output": ("tools",),
    "web_search_call": ("action",),
}
_OUTPUT_ONLY = ("created_by", "parsed_arguments")
_UNFINISHED = ("in_progress", "searching", "interpreting")


class Echoes:
    """Writes earlier turns for ``request``. Each id is sent once in a request."""

    def __init__(self, request: Request) -> None:
        self._takes_reasoning = reasons(request.model) is not False and not request.wire.drop_unbound
        self._ids: set[str] = set()

    def items(self, turn: AssistantTurn) -> list[dict[str, Any]]:
        """The turn as input items."""
        given = objects(turn.echo(FORMAT))
        if not given or sum(map(_is_call, given)) != len(turn.calls):
            return list(_anew(turn))
        ids = [text(item.get("id")) for item in given if item.get("id")]
        if not all(map(self._resendable, given)) or len(set(ids)) < len(ids) or self._ids & set(ids):
            return list(_without_state(given, turn.calls))
        self._ids.update(ids)
        calls = iter(turn.calls)
        sent = [_call(item, next(calls)) if _is_call(item) else _clean(item) for item in given]
        while sent and sent[-1].get("type") == "reasoning":  # it would wait for the item that it led to
            sent.pop()
        return sent

    def _resendable(self, item: Mapping[str, Any]) -> bool:
        """Whether the API takes the item back: not a mere reference to what was never stored."""
        kind = text(item.get("type"))
        if kind == "reasoning":
            return self._takes_reasoning and bool(item.get("encrypted_content") or item.get("content"))
        return item.get("status") not in _UNFINISHED and all(item.get(key) for key in _NEEDED.get(kind, ()))


def _anew(turn: AssistantTurn) -> Iterator[dict[str, Any]]:
    """A turn of another format, or one that was changed since."""
    if turn.message.text.strip():
        yield {"type": "message", "role": "assistant", "content": turn.message.text}
    for call in turn.calls:
        yield _plain_call(call)


def _without_state(items: list[dict[str, Any]], calls: tuple[SentCall, ...]) -> Iterator[dict[str, Any]]:
    """The words and calls in their order; words keep their phase."""
    waiting = iter(calls)
    for item in items:
        if _is_call(item):
            namespace = {"namespace": item["namespace"]} if item.get("namespace") else {}
            yield _plain_call(next(waiting)) | namespace
        elif item.get("type") == "message" and (words := item_text(item)).strip():
            phase = {"phase": item["phase"]} if item.get("phase") else {}
            yield {"type": "message", "role": "assistant", "content": words} | phase


def _plain_call(call: SentCall) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": compact(call.arguments),
    }


def _call(item: dict[str, Any], call: SentCall) -> dict[str, Any]:
    same = (item.get("call_id"), item.get("name")) == (call.id, call.name)
    if same and _is_object(item.get("arguments")):
        return _clean(item)
    return _clean({**item, "call_id": call.id, "name": call.name, "arguments": compact(call.arguments)})


def _clean(item: dict[str, Any]) -> dict[str, Any]:
    """``item`` without what is only ever given: empty members, and the state of reasoning."""
    dropped = (*_OUTPUT_ONLY, "status") if item.get("type") == "reasoning" else _OUTPUT_ONLY
    if item.get("type") == "message":
        parts = [_part(part) for part in objects(item.get("content"))]
        item = {**item, "content": parts}
    return {key: value for key, value in item.items() if value is not None and key not in dropped}


def _part(part: dict[str, Any]) -> dict[str, Any]:
    """A part of a message, with the list of annotations that a text must have."""
    if part.get("type") != "output_text" or as_list(part.get("annotations")) is not None:
        return part
    return {**part, "annotations": []}


def _is_call(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "function_call"


def _is_object(written: Any) -> bool:
    """Whether arguments are JSON as the API takes it back: a model may have left them empty or broken."""
    try:
        return isinstance(written, str) and is_object(load(written))
    except ValueError:
        return False
