"""What each compatible server takes and refuses of Chat Completions, by its documentation and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class ChatRules:
    """``more`` and ``refused`` are keys of the body; ``fields`` are those of an assistant's message besides
    the usual ones, ``demanded`` the one without which the server refuses it, ``call_fields`` those of a call.
    ``efforts`` are the values of ``reasoning_effort``, of ``effort`` in ``reasoning``, or of ``type`` in
    ``thinking``; ``formats`` the types of ``response_format``, ``formats_with_tools`` those beside tools.
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
    efforts: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    formats: frozenset[str] = frozenset()
    formats_with_tools: frozenset[str] = frozenset()
    choices: frozenset[str] = frozenset({"auto", "none", "required", "named"})


_LEVELS = frozenset({"low", "medium", "high"})
_SWITCH = frozenset({"enabled", "disabled"})
_OBJECT = frozenset({"json_object"})
_SCHEMA = frozenset({"json_schema"})
_CHOSEN = frozenset({"auto", "none"})
_CONTENT = frozenset({"reasoning_content"})
_ANY_ID = r"[!-~]{1,256}"
OPEN = ChatRules(
    ids=_ANY_ID,
    fields=frozenset({"reasoning_content", "reasoning", "reasoning_details"}),
    call_fields=frozenset({"extra_content"}),
    efforts={"reasoning_effort": _LEVELS | {"none"}},
    formats=_SCHEMA,
)
_REASONING = ChatRules(
    fields=frozenset({"reasoning"}),
    call_fields=frozenset({"extra_content"}),
    efforts={"reasoning_effort": _LEVELS | {"none"}},
    formats=_OBJECT | _SCHEMA,
)
OPENAI = ChatRules(
    more=frozenset({"prompt_cache_key"}),
    efforts={"reasoning_effort": _LEVELS | {"none", "minimal"}},
    formats=_SCHEMA,
    formats_with_tools=_SCHEMA,
)
_ROWS = {
    "cerebras": _REASONING,
    "cohere": ChatRules(
        refused=frozenset({"stream_options"}),
        efforts={"reasoning_effort": frozenset({"none", "high"})},
        formats=_OBJECT,
    ),
    "deepseek": ChatRules(
        fields=_CONTENT,
        demanded="reasoning_content",
        efforts={"thinking": _SWITCH, "reasoning_effort": frozenset({"low", "high"})},
        formats=_OBJECT,
        choices=_CHOSEN,
    ),
    "groq": replace(_REASONING, ids=_ANY_ID),
    "huggingface": replace(OPEN, formats=frozenset()),
    "minimax": replace(
        OPEN,
        ids=ChatRules().ids,
        more=frozenset({"reasoning_split"}),
        formats=frozenset(),
        efforts={},
        thinks_in_content=True,
    ),
    "mistral": ChatRules(
        more=frozenset({"prompt_cache_key"}),
        refused=frozenset({"stream_options", "web_search_options"}),
        ids="[A-Za-z0-9]{9}",
        user_after_tool=False,
        media_in_results=True,
        thinks_in_content=True,
        efforts={"reasoning_effort": frozenset({"none", "high"})},
        formats=_SCHEMA,
    ),
    "moonshot": ChatRules(
        ids=_ANY_ID,
        more=frozenset({"prompt_cache_key"}),
        fields=_CONTENT,
        demanded="reasoning_content",
        efforts={"thinking": _SWITCH},
        formats=_OBJECT,
        choices=_CHOSEN,
    ),
    "nvidia": replace(OPEN, formats=frozenset()),
    "openai": OPENAI,
    "openai-chat": OPENAI,
    "openrouter": replace(
        OPEN, more=frozenset({"provider"}), efforts={"reasoning": _LEVELS | {"none", "minimal"}}
    ),
    "zai": ChatRules(
        refused=frozenset({"stream_options"}),
        fields=_CONTENT,
        efforts={"thinking": _SWITCH},
        formats=_OBJECT,
        choices=_CHOSEN,
    ),
}


def rules_of(row: str) -> ChatRules:
    """The rules of a row; a server of which nothing else is known takes every field of reasoning."""
    return _ROWS.get(row, OPEN)
