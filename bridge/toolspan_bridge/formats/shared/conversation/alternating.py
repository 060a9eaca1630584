"""Conversations where user and assistant alternate, and tool blocks need tools in the request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ....messages import Assistant, Request
from ..json_values import compact
from .history import (
    AssistantTurn,
    ToolResultsTurn,
    Turn,
    UserTurn,
)
from .results import MediaSupport, render_result

__all__ = ["alternating", "as_text"]

_EARLIER = "(The conversation began earlier.)"


def alternating(turns: Iterable[tuple[str, list[dict[str, Any]]]], **text_block: Any) -> list[dict[str, Any]]:
    """(role, blocks) as ``{"role", "content"}``, the user first: adjacent ones with the same role are merged.

    ``text_block`` are the members of the provider's text blocks besides ``text``. A turn without blocks is
    dropped.
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
    """``history`` with past calls and results as plain text, for a request without tools."""
    plain: list[Turn] = []
    for turn in history:
        if isinstance(turn, AssistantTurn) and turn.calls:
            calls = (f"[called {call.name} with {compact(call.arguments)}]" for call in turn.calls)
            rendered = "\n".join(filter(None, (turn.message.text.strip(), *calls)))
            plain.append(AssistantTurn(Assistant(rendered), ()))
        elif isinstance(turn, ToolResultsTurn):
            support = MediaSupport(request.max_result_bytes)
            shown = ((call, render_result(outcome, support)) for call, outcome in turn.results)
            plain.append(
                UserTurn(
                    "\n".join(f"[{call.name} gave] {found.text_with_error_mark}" for call, found in shown)
                )
            )
        else:
            plain.append(turn)
    return plain
