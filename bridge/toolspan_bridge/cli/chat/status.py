"""What stands below the input line: who answers, and what the conversation took so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import BridgeError
from ..terminal.output import without_notes

if TYPE_CHECKING:
    from ...conversation import Conversation
    from ...sessions.costs import CostMeter
    from .chat import Chat
    from .last_turn import LastTurn

__all__ = ["fitting", "status_of"]

_BETWEEN = " · "


async def status_of(chat: Chat) -> list[str]:
    """``["openai/gpt-4o", "context 12 % of 128,000", "cost $0.0380", "1,234 tokens"]``, as far as it is known
    of the next question and the conversation so far; the most important first."""
    from ...providers.prices import usd_text

    conversation = chat.saved.conversation
    try:
        with without_notes():
            question, provider = await chat.routed("")
    except BridgeError:  # said when the next question is asked
        return []
    meter = chat.asker.meter(question, provider)
    parts = [f"{provider.name}/{question.model}", _context(chat.last_turn, conversation, meter)]
    if conversation.usd and meter.may_be_known:
        parts.append(f"cost {usd_text(conversation.usd)}")
    if conversation.tokens:
        parts.append(f"{conversation.tokens:,} tokens")
    return [part for part in parts if part]


def _context(last: LastTurn | None, conversation: Conversation, meter: CostMeter) -> str:
    if last is None or not last.is_of(conversation):
        return ""
    from ..terminal.screen.figures import context_text

    return context_text(meter, last.usage)


def fitting(parts: Sequence[str], width: int) -> str:
    """As many of ``parts`` as fit into ``width`` columns; nothing where the first does not."""
    from rich.cells import cell_len

    while parts and cell_len(_BETWEEN.join(parts)) > width:
        parts = parts[:-1]
    return _BETWEEN.join(parts)
