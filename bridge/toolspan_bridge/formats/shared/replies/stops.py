"""Why an answer ended, in the words of providers and of the servers that speak their formats.

One table for all formats: what a server of Chat Completions passes on is often the word of the model behind
it. Sources: the types of openai 3.54.0, anthropic 2.12.0, google-genai 3.4.0, mistralai 3.7.0 and botocore
1.44.5, cohere's and Z.ai's documentation, the sources of vLLM, SGLang, text-generation-inference, llama.cpp.
"""

from __future__ import annotations

import re
from typing import Any

from ....messages import StopReason
from ..json_values import text

__all__ = ["stop_reason", "stop_word"]

_WORDS: dict[StopReason, str] = {
    "stop": "complete completed done end end_of_text end_turn endoftext eos eos_token finish finished "
    "function_call normal stop stop_sequence stop_str stop_token stop_word tool_call tool_calls tool_use",
    "length": "length limit max_length max_new_tokens max_output_tokens max_output_tokens_exceeded "
    "max_tokens max_tokens_reached token_limit",
    "context": "context_length context_length_exceeded context_window_exceeded model_context_window_exceeded "
    "model_length",
    "refusal": "blocked blocklist content_filter content_filtered content_moderation error_toxic escalation "
    "guardrail_intervened image_prohibited_content image_recitation image_safety model_armor moderation "
    "prohibited_content pup_limited_disabled recitation refusal refused safety sensitive spii",
    "malformed": "invalid_tool_call malformed_function_call malformed_model_output malformed_response "
    "malformed_tool_use tool_use_failed unexpected_tool_call",
    "error": "abort aborted cancel canceled cancelled engine_overloaded error error_limit failed failure "
    "image_other insufficient_system_resource internal_error language missing_thought_signature "
    "network_error no_image other overloaded repetition server_error timeout too_many_tool_calls user_cancel",
    "pause": "continuation pause_turn steered",
}
_PARTS: tuple[tuple[StopReason, re.Pattern[str]], ...] = (
    ("malformed", re.compile(r"malformed|(?:invalid|unparsable)_(?:function|tool)")),
    ("context", re.compile(r"context")),
    (
        "refusal",
        re.compile(r"block|filter|flag|guardrail|moderat|policy|prohibit|refus|safety|sensitiv|toxic"),
    ),
    (
        "error",
        re.compile(
            r"abort|cancel|crash|disconnect|error|exhaust|exception|fail|interrupt|invalid|overload|preempt|repet|"
            r"time_?limit|time_?out|unavailable|unload"
        ),
    ),
    ("length", re.compile(r"length|max_?(?:imum_)?(?:len|new|output|tok)|token_?(?:budget|limit)|truncat")),
)
"""What words say of which nobody has heard, each with what it is about in it: such a turn is no whole one."""
_LONGEST = 200
_PREFIXES = ("finish_reason_", "stop_reason_", "reason_")
_NONE = frozenset({"none", "null", "not_finished"})
_REASONS: dict[str, StopReason] = {word: stop for stop, words in _WORDS.items() for word in words.split()}


def stop_reason(given: Any, *, missing: StopReason = "other") -> StopReason:
    """Why an answer ended, by the provider's word, or by what an unknown one is about; ``missing`` where it
    gave none, and ``other`` for a word that says nothing here."""
    word = stop_word(given)
    if not word:
        return missing
    plain = _plain(word)
    for stop, part in _PARTS:
        if plain not in _REASONS and part.search(plain):
            return stop
    return _REASONS.get(plain, "other")


def stop_word(given: Any) -> str:
    """The provider's word; empty where it gave none, which some servers write as a word too."""
    word = text(given).strip()
    return "" if word.lower() in _NONE else word


def _plain(word: str) -> str:
    """The word alone, of ``function_call_filter: MALFORMED_FUNCTION_CALL`` and ``FinishReason.STOP`` too."""
    plain = word[-_LONGEST:].rpartition(":")[2].rpartition(".")[2]
    plain = plain.strip().lower().replace("-", "_").replace(" ", "_")
    return next((plain.removeprefix(each) for each in _PREFIXES if plain.startswith(each)), plain)
