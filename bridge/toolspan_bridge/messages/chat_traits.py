"""What a provider's Chat Completions takes: compatible servers differ in what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["OPENAI", "USUAL", "ChatTraits"]


@dataclass(frozen=True, slots=True)
class ChatTraits:
    """What of the openai format a provider takes. Each row of the compatible providers has its own.

    ``echoed`` are the fields of an assistant's message, such as ``reasoning_content``, that have to come back
    with the calls of its turn, and ``echoes_text_turns`` says whether they go back with turns without calls
    too. ``demanded`` is the one of them that no assistant's message may lack: those of other models get a
    blank. ``echoes_call_state`` is the same of ``extra_content`` of each call. ``stream_usage``: whether
    ``stream_options`` may be sent. ``user_after_tool``: whether a user's message may directly follow a
    tool's; where not, a tool's message takes images itself. ``call_ids``: which of other providers'
    it takes: ``short`` are exactly nine letters and digits, ``named`` at most 40 of a name's.
    ``effort`` is how the effort of reasoning is asked for: ``reasoning_effort``, ``reasoning`` as an object
    with ``effort``, ``thinking`` as an object with ``type``, or not at all; ``efforts`` are the values that
    are known there, from the least (beside ``thinking``, which switches, those of ``reasoning_effort``).
    ``structured`` is what ``response_format`` takes, and ``structured_with_tools`` whether it does so beside
    tools. ``cache_key``: whether ``prompt_cache_key`` is known there. ``forces_calls``: whether a call can be
    demanded. ``splits_thoughts`` is the setting that keeps thoughts out of the text, in fields of their own.
    ``refused`` are the settings of ``formats.shared.settings`` that it is known to refuse, ``seed`` is its
    name of that one.
    """

    echoed: tuple[str, ...] = ("reasoning_content", "reasoning", "reasoning_details")
    echoes_text_turns: bool = False
    demanded: str = ""
    echoes_call_state: bool = True
    stream_usage: bool = True
    user_after_tool: bool = True
    call_ids: Literal["any", "named", "short"] = "any"
    effort: Literal["reasoning_effort", "reasoning", "thinking", ""] = "reasoning_effort"
    efforts: tuple[str, ...] = ("none", "low", "medium", "high")
    structured: Literal["json_schema", "json_object", ""] = "json_schema"
    structured_with_tools: bool = False
    cache_key: bool = False
    forces_calls: bool = True
    splits_thoughts: str = ""
    refused: frozenset[str] = frozenset()
    seed: str = "seed"


USUAL = ChatTraits()
"""What most compatible servers take."""

OPENAI = ChatTraits(
    echoed=(),
    echoes_call_state=False,
    call_ids="named",
    structured_with_tools=True,
    cache_key=True,
    refused=frozenset({"min_p", "repetition_penalty", "top_k"}),
)
"""What OpenAI takes, on its own API and on Azure's."""
