"""Results that are too long to be shown whole: models see the beginning, and read on by ``read_result``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolspan_server.engines.upstreams import ListedTool

from ...conversation import Conversation
from ...messages import Message, Part, ToolOutcome, ToolResults
from ...provenance.outward import LOCAL
from ...toolbox.local import LocalCall, LocalFailure, local_spec
from .estimate import outcome_text

__all__ = ["READ_RESULT", "ReadResult", "has_cut", "shortened", "shown"]

_DEFINITION = ListedTool(
    "read_result",
    "Read on in a tool result that was too long to be shown whole. Its text says the call_id, and from which "
    "offset on it was cut.",
    {
        "type": "object",
        "properties": {
            "call_id": {"type": "string", "description": "The call_id that the cut result names"},
            "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "In characters"},
            "limit": {"type": "integer", "minimum": 1, "description": "Most characters"},
        },
        "required": ["call_id"],
        "additionalProperties": False,
    },
    {"annotations": {"readOnlyHint": True, "idempotentHint": True}, **LOCAL},
)
_LISTED = 10


class ReadResult:
    """Reads the results of ``conversation``, at most ``most`` characters at once."""

    definition = _DEFINITION

    def __init__(self, conversation: Conversation, most: int) -> None:
        self._conversation = conversation
        self._most = most

    async def call(self, call: LocalCall) -> Any:
        """``{"call_id", "text", "offset", "next_offset", "characters"}``; ``next_offset`` is ``null`` at the
        end. Raises ``LocalFailure`` for an unknown id, and an offset beyond the end."""
        wanted = str(call.arguments["call_id"])
        known = dict(_named(self._conversation.messages))
        if wanted not in known:
            cut = [name for name, outcome in known.items() if outcome.cut is not None]
            raise LocalFailure(
                f"there is no result of a call {wanted[:100]!r}",
                "not_found",
                f"Name one of: {', '.join(cut[-_LISTED:])}.",
            )
        text = outcome_text(known[wanted])
        offset = int(call.arguments.get("offset", 0))
        if offset > len(text):
            raise LocalFailure(
                f"the offset {offset} is beyond the end",
                "invalid_parameters",
                f"It has {len(text)} characters.",
            )
        end = min(len(text), offset + min(self._most, int(call.arguments.get("limit", self._most))))
        return {
            "call_id": wanted,
            "text": text[offset:end],
            "offset": offset,
            "next_offset": end if end < len(text) else None,
            "characters": len(text),
        }


READ_RESULT = local_spec(ReadResult(Conversation(), 1))
"""The tool as models see it."""


def shortened(outcome: ToolOutcome, most: int) -> ToolOutcome:
    """``outcome``, marked as too long where its text has more than ``most`` characters; it keeps them all."""
    return replace(outcome, cut=most) if len(outcome_text(outcome)) > most else outcome


def has_cut(messages: Sequence[Message]) -> bool:
    """Whether one of the results in ``messages`` is cut."""
    return any(outcome.cut is not None for _, outcome in _named(messages))


def shown(messages: Sequence[Message], tool: str) -> list[Message]:
    """``messages`` with cut results as a model sees them; ``tool`` is what ``read_result`` is called for it,
    empty where it is not offered."""
    if not has_cut(messages):
        return list(messages)
    names = {id(outcome): name for name, outcome in _named(messages)}
    return [
        ToolResults(tuple(_beginning(outcome, names[id(outcome)], tool) for outcome in message.outcomes))
        if isinstance(message, ToolResults)
        else message
        for message in messages
    ]


def _beginning(outcome: ToolOutcome, name: str, tool: str) -> ToolOutcome:
    if outcome.cut is None:
        return outcome
    text = outcome_text(outcome)
    further = f'; read on with {tool}(call_id="{name}", offset={outcome.cut})' if tool else ""
    marker = f"\n[cut here: these are the first {outcome.cut:,} of {len(text):,} characters{further}]"
    first = Part("text", {"type": "text", "text": text[: outcome.cut] + marker})
    others = tuple(part for part in outcome.parts if part.type != "text")
    return replace(outcome, parts=(first, *others), structured=None)


def _named(messages: Sequence[Message]) -> Iterator[tuple[str, ToolOutcome]]:
    """Each outcome under its call's id; one that occurred before gets a number: providers repeat ids."""
    times: dict[str, int] = {}
    for message in messages:
        for outcome in message.outcomes if isinstance(message, ToolResults) else ():
            times[outcome.call_id] = times.get(outcome.call_id, 0) + 1
            again = times[outcome.call_id]
            yield (outcome.call_id if again == 1 else f"{outcome.call_id}#{again}"), outcome
