"""What questions cost, for people."""

from __future__ import annotations

from ...providers.prices import usd_text


def cost_line(usd: float | None, conversation_usd: float | None = None, *, chat: bool = False) -> str:
    """``cost: $0.0021``, and in a chat that of the conversation."""
    line = f"cost: {usd_text(usd)}"
    return f"{line}; of the conversation: {usd_text(conversation_usd)}" if chat else line
