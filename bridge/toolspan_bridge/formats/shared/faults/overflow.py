"""Recognises the error for a request that is longer than the model's context, and reads both lengths."""

from __future__ import annotations

import re

_N = r"(\d[\d,]*)"
_COUNTED = rf"(?P<counted>{_N})"
_MOST = rf"(?P<most>{_N})"

CODES = frozenset(
    {
        "context_length_exceeded",
        "exceed_context_size_error",
        "model_context_window_exceeded",
        "request_too_large",
    }
)
"""The codes and types of such errors: OpenAI and many compatible servers, llama.cpp, Z.ai, Anthropic."""


def _any(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in patterns)


# The lengths come first, so that a general pattern does not hide them.
_TEXTS = _any(
    # Anthropic, also on Bedrock and Vertex AI
    rf"prompt is too long: {_COUNTED} tokens > {_MOST}",
    rf"exceed context limit: {_COUNTED} \+ {_N} > {_MOST}",
    # OpenAI, DeepSeek, vLLM, OpenRouter, Azure
    rf"maximum context length is {_MOST} tokens.{{0,60}}?(?:resulted in|requested(?: about)?|request has) "
    rf"{_COUNTED} (?:input )?tokens",
    rf"exceed the configured limit of {_MOST} tokens.{{0,40}}?resulted in {_COUNTED} tokens",
    rf"prompt \(length {_COUNTED}\) is longer than the maximum model length of {_MOST}",
    # Gemini, Vertex AI
    rf"input token count \({_COUNTED}\) exceeds the maximum number of tokens allowed \({_MOST}\)",
    rf"input token count exceeds the maximum number of tokens allowed \({_MOST}\)",
    rf"input token count is {_COUNTED} but model only supports up to {_MOST}",
    # llama.cpp
    rf"request \({_COUNTED} tokens\) exceeds the available context size \({_MOST} tokens\)",
    # Mistral
    rf"prompt contains {_COUNTED} tokens.{{0,60}}?too large for model with {_MOST} maximum context length",
    # xAI
    rf"maximum prompt length is {_MOST} but the request contains {_COUNTED} tokens",
    # Together, Hugging Face
    rf"must be <= {_MOST}\. Given: {_COUNTED} `inputs` tokens",
    rf"input \({_COUNTED} tokens\) is longer than the model'?s context length \({_MOST} tokens\)",
    # Moonshot
    rf"exceeded model token limit: {_MOST} \(requested: {_COUNTED}\)",
    # Fireworks
    rf"prompt is too long: {_COUNTED}, model maximum context length: {_MOST}",
    # Cerebras
    rf"current length is {_COUNTED} while limit is {_MOST}",
    # Bedrock
    rf"max input tokens: {_MOST}, request input token count: {_COUNTED}",
    # LM Studio
    rf"keep the first {_COUNTED} tokens when context the overflows.{{0,80}}?context length of only {_MOST} ",
    # DashScope
    rf"range of input length should be \[1, {_MOST}\]",
    # without lengths, or with one
    rf"maximum context length is {_MOST}",
    r"(?:input|prompt|request)s? (?:is|are) too long",
    r"number of input tokens exceeds maximum",
    r"exceeds? the (?:available |model'?s? )?(?:maximum )?context (?:size|length|window)",
    r"context (?:length|window|size)\W+(?:was |is )?exceed|context window exceeds limit",
    r"greater than the context length|exceeded (?:max )?context length",
    r"prompt exceeds max length|reduce the length of (?:the|your) (?:messages|prompt|input)",
    r"token limit exceeded|too many (?:input )?tokens",
)


def overflow(message: str) -> tuple[int | None, int | None] | None:
    """The counted tokens and the maximum, each as far as ``message`` has it; ``None`` when the error is about
    something else."""
    for pattern in _TEXTS:
        if found := pattern.search(message):
            named = found.groupdict()
            return _number(named.get("counted")), _number(named.get("most"))
    return None


def _number(written: str | None) -> int | None:
    return int(written.replace(",", "")) if written else None
