"""What each compatible server takes and refuses of Chat Completions, by its documentation and its errors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ChatRules:
    """``more`` and ``refused`` are keys of the body; ``fields`` are those of an assistant's message besides
    the usual ones, ``demanded`` the one without which the server refuses it, ``call_fields`` those of a call.
    """

    more: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    demanded: str = ""
    call_fields: frozenset[str] = frozenset()
    ids: str = r"[A-Za-z0-9_-]{1,40}"
    user_after_tool: bool = True
    media_in_results: bool = False
    thinks_in_content: bool = False


OPEN = ChatRules(
    fields=frozenset({"reasoning_content", "reasoning", "reasoning_details"}),
    call_fields=frozenset({"extra_content"}),
)
_REASONING = ChatRules(fields=frozenset({"reasoning"}), call_fields=frozenset({"extra_content"}))
OPENAI = ChatRules()
_ROWS = {
    "cerebras": _REASONING,
    "deepseek": ChatRules(fields=frozenset({"reasoning_content"}), demanded="reasoning_content"),
    "groq": _REASONING,
    "mistral": ChatRules(
        refused=frozenset({"stream_options", "web_search_options"}),
        ids="[A-Za-z0-9]{9}",
        user_after_tool=False,
        media_in_results=True,
        thinks_in_content=True,
    ),
    "openai": OPENAI,
}


def rules_of(row: str) -> ChatRules:
    """The rules of a row; a server of which nothing else is known takes every field of reasoning."""
    return _ROWS.get(row, OPEN)
