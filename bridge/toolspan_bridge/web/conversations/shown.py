"""A conversation as the API shows it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from ...conversation.log import Log, Note
from ...conversation.tool_names import ToolNames
from ...messages import Assistant, Message, Part, ToolOutcome, ToolResults, User
from .thoughts import REASONING


def messages_of(log: Log, *, running: bool) -> list[dict[str, Any]]:
    """``[{"role": "user" | "assistant", "text", …}]``; of an answer with the calls and what came of each.

    While a question is ``running``, a call that has no result yet is shown without one.
    """
    names = ToolNames(log.conversation)
    unknown = {outcome.call_id for outcome in log.interrupted} if running else set[str]()
    notes: defaultdict[int, list[Note]] = defaultdict(list)
    for note in log.notes:
        notes[note.place].append(note)
    found: list[dict[str, Any]] = []
    last: dict[str, Any] = {}
    for place, message in enumerate(log.conversation.messages):
        if isinstance(message, ToolResults):
            _add_results(last, message, unknown)
            continue
        last = _said(message, names)
        last |= {"at": log.times[place]} if place < len(log.times) and log.times[place] else {}
        if isinstance(message, Assistant):
            last |= _noted([*notes[place], *notes[place + 1]])
        found.append(last)
    return found


def _said(message: Message, names: ToolNames) -> dict[str, Any]:
    if isinstance(message, User):
        parts = {"attachments": [part_data(part) for part in message.parts]} if message.parts else {}
        return {"role": "user", "text": message.text, **parts}
    assert isinstance(message, Assistant)
    data: dict[str, Any] = {"role": "assistant", "text": message.text}
    if message.calls:
        data["tool_calls"] = [
            {"tool_use_id": call.id, "tool_name": names.of(call.name), "tool_input": call.arguments}
            for call in message.calls
        ]
    if message.citations:
        data["citations"] = [source.as_dict() for source in message.citations]
    return data | ({"incomplete": True} if message.incomplete else {})


def _add_results(asked: dict[str, Any], results: ToolResults, unknown: set[str]) -> None:
    outcomes = {outcome.call_id: outcome for outcome in results.outcomes if outcome.call_id not in unknown}
    for call in asked.get("tool_calls", ()):
        if (outcome := outcomes.get(call["tool_use_id"])) is not None:
            call.update(_came(outcome))


def _came(outcome: ToolOutcome) -> dict[str, Any]:
    approval = {} if outcome.approval is None else {"approval": dict(outcome.approval)}
    files = [part_data(part) for part in outcome.parts if part.type not in ("text", "resource_link")]
    return {"result": dict(outcome.result), **approval, **({"files": files} if files else {})}


def part_data(part: Part) -> dict[str, Any]:
    """What a part is, without its data."""
    resource: Mapping[str, Any] = part.data.get("resource") or part.data
    data = resource.get("blob") or resource.get("data") or ""
    size = len(data) * 3 // 4 if data else len(str(resource.get("text", "")).encode())
    kind = resource.get("mimeType") or "text/plain"
    return {"type": part.type, "media_type": kind, "name": resource.get("uri", ""), "bytes": size}


def _noted(notes: list[Note]) -> dict[str, Any]:
    usage = [dict(note.data) for note in notes if note.kind == "usage"]
    models = [str(note.data.get("model", "")) for note in notes if note.kind == "model"]
    thoughts = "".join(str(note.data.get("text", "")) for note in notes if note.kind == REASONING)
    found: dict[str, Any] = {"usage": usage[-1]} if usage else {}
    found |= {"model": models[-1]} if models else {}
    return found | ({"reasoning": thoughts} if thoughts else {})
