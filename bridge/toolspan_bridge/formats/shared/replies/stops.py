"""Why an answer ended, in the words of providers and of the servers that speak their formats.

One table for all formats: what a server of Chat Completions passes on is often the word of the model behind
it. Sources: the types of openai 3.54.0, anthropic 2.12.0, google-genai 3.4.0, mistralai 3.7.0 and botocore
1.44.5, cohere's and Z.ai's documentation, the sources of vLLM, SGLang, text-generation-inference, llama.cpp.
"""

from __future__ import annotations

from typing import Any

from ....messages import StopReason
from ..json_values import text

__all__ = ["stop_reason"]

_WORDS: dict[StopReason, str] = {
    "stop": "complete completed end end_turn eos eos_token finish finished function_call normal stop "
    "stop_sequence stop_str stop_token stop_word tool_call tool_calls tool_use",
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
_REASONS: dict[str, StopReason] = {word: stop for stop, words in _WORDS.items() for word in words.split()}


def stop_reason(given: Any, *, missing: StopReason = "other") -> StopReason:
    """Why an answer ended, by the provider's word; ``missing`` where it gave none, and ``other`` for a word
    that nobody here knows."""
    word = text(given).strip()
    return _REASONS.get(_plain(word), "other") if word else missing


def _plain(word: str) -> str:
    """The word alone, of ``function_call_filter: MALFORMED_FUNCTION_CALL`` too."""
    return word.rpartition(":")[2].strip().lower().replace("-", "_").replace(" ", "_")
