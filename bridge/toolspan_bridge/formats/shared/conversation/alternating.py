"""Conversations where user and assistant take turns, and tool blocks need tools beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ....messages import Assistant, Request
from ..json_values import compact
from .history import Answered, Asked, Said, Turn
from .results import Carries, show

__all__ = ["alternating", "as_text"]

_EARLIER = "(The conversation began earlier.)"


def alternating(turns: Iterable[tuple[str, list[dict[str, Any]]]], **text_block: Any) -> list[dict[str, Any]]:
    """(role, blocks) as ``{"role", "content"}``, the user first: neighbours with one role are one message.

    ``text_block`` is what the provider's text blocks have beside ``text``. A turn without blocks is none.
    """
    messages: list[dict[str, Any]] = []
    for role, blocks in turns:
        if not blocks:
            continue
        if not messages and role == "assistant":
            messages.append({"role": "user", "content": [{**text_block, "text": _EARLIER}]})
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].extend(blocks)
        else:
            messages.append({"role": role, "content": blocks})
    return messages


def as_text(history: Sequence[Turn], request: Request) -> list[Turn]:
    """Past calls and results told in words."""
    told: list[Turn] = []
    for turn in history:
        if isinstance(turn, Said) and turn.calls:
            calls = (f"[called {call.name} with {compact(call.arguments)}]" for call in turn.calls)
            said = "\n".join(filter(None, (turn.message.text.strip(), *calls)))
            told.append(Said(Assistant(said), ()))
        elif isinstance(turn, Answered):
            carries = Carries(request.max_result_bytes)
            shown = ((call, show(outcome, carries)) for call, outcome in turn.results)
            told.append(Asked("\n".join(f"[{call.name} gave] {found.marked_text}" for call, found in shown)))
        else:
            told.append(turn)
    return told
