"""Recognises the error for a request that is longer than the model's context, and reads its lengths.

A sentence is about that where it says that the prompt, or its tokens, are beyond a limit; vendors differ in
the words for each. The lengths are read by the sentences that are known; of any other that has two numbers,
the larger one was counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["CODES", "Lengths", "overflow"]

CODES = frozenset(
    {
        "context_length_exceeded",
        "context_window_exceeded",
        "exceed_context_size_error",
        "input_too_long",
        "model_context_window_exceeded",
        "model_max_prompt_tokens_exceeded",
        "prompt_too_long",
        "request_too_large",
        "string_above_max_context",
        "tokens_limit_reached",
    }
)
"""The codes and types of such errors: OpenAI and many compatible servers, llama.cpp, Z.ai, Anthropic,
Copilot, GitHub Models."""

_MOST_READ = 8_000
_NUMBER = r"\d[\d,]{0,11}(?:\.0)?"


def _role(name: str) -> str:
    return rf"(?P<{name}>{_NUMBER})"


_COUNTED, _ANSWER, _MOST = _role("counted"), _role("answer"), _role("most")


def _any(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in patterns)


_LENGTHS = _any(
    r"malformed input request: expected maxlength|max input characters is",  # characters: Bedrock, Baidu
    # OpenRouter, of more than two parts: what is no answer was counted
    rf"maximum context length is {_MOST} tokens.{{0,40}}?requested (?:about )?{_role('total')} tokens "
    rf"\((?:{_NUMBER} of [\w ]{{1,30}}, ){{2,5}}{_ANSWER} in the output",
    # with the limit of the answer: Anthropic; vLLM, newer and older; OpenAI, DeepSeek, OpenRouter; SGLang and
    # LiteLLM; Hugging Face
    rf"exceed context limit: {_COUNTED} \+ {_ANSWER} > {_MOST}",
    rf"is too large: {_ANSWER}\. this model's maximum context length is {_MOST} tokens and your request has "
    rf"{_COUNTED} input tokens",
    rf"maximum context length is {_MOST} tokens.{{0,40}}?requested {_ANSWER} output tokens and your prompt "
    rf"contains (?:at least )?{_COUNTED} input tokens",
    rf"maximum context length is {_MOST} tokens.{{0,40}}?requested (?:about )?{_NUMBER} tokens "
    rf"\({_COUNTED} (?:in|of) (?:the |your )?\w+(?: input)?[,;] {_ANSWER} (?:in|for) the "
    r"(?:completion|output)",
    rf"maximum context length of {_MOST} tokens.{{0,60}}?{_COUNTED} tokens from the input messages and "
    rf"{_ANSWER} tokens for the completion",
    rf"must be <= {_MOST}\. given: {_COUNTED} `inputs` tokens and {_ANSWER} `max_new_tokens`",
    rf"prompt length \({_COUNTED}\).{{0,80}}?max_new_tokens \({_ANSWER}\) should not exceed \w+ \({_MOST}\)",
    rf"max_seq_len \({_MOST}\) - splited_prompt_len \({_COUNTED}\)",  # TensorRT-LLM, as the one before
    # OpenAI, vLLM, OpenRouter, Azure, xAI
    rf"maximum context length is {_MOST} tokens.{{0,80}}?your prompt contains {_NUMBER} characters",
    rf"maximum (?:context|prompt) length is {_MOST}(?: tokens)?.{{0,80}}?(?:resulted in|requested(?: about)?|"
    rf"request has|request contains) {_COUNTED} (?:input )?tokens",
    rf"(?:limit|maximum context length) (?:of|is) {_MOST} tokens.{{0,40}}?resulted in {_COUNTED} tokens",
    rf"limit {_MOST}, requested {_COUNTED}",  # the tokens that one request may have in a minute: Groq, OpenAI
    rf"cannot exceed {_MOST} - received {_COUNTED}",  # Cohere
    rf"current length is {_COUNTED} while limit is {_MOST}",  # Cerebras
    rf"exceeded model token limit: {_MOST} \(requested: {_COUNTED}\)",  # Moonshot
    rf"must have less than {_MOST} tokens\. given: {_COUNTED}",  # Hugging Face
    rf"range of input length should be \[\d, {_MOST}\]",  # DashScope
    rf"input token count is {_COUNTED} but (?:the )?model only supports up to {_MOST}",  # Vertex
    rf"tokens \({_COUNTED}\) exceeded this model context window limit \({_MOST}\)",  # Cloudflare
    rf"supported by this model \({_MOST}\)",  # watsonx
    rf"prompt_tokens \({_COUNTED}\) must be less than max_seq_len \({_MOST}\)",  # SiliconFlow
    rf"max_seq_len exceeded: {_COUNTED} > {_MOST}",
    rf"max tokens of {_MOST} exceeded",  # Snowflake
    rf"request body too large for .{{1,100}}? max size: {_MOST} tokens",  # GitHub Models
    rf"reached context length of {_MOST} tokens",  # LM Studio
)
_BEFORE = r"(?<![\w`.])(?<!output )(?<!completion )(?<!new )`?"
_SUBJECT = rf"{_BEFORE}(?:inputs?|messages|prompt|tokens?)`?(?![\w`.])"
_REQUEST = rf"{_BEFORE}(?:context|conversation|request)(?![\w`.])"
_GAP = (
    r"(?:(?!\.\s|[;:]\s|\b(?:attempt|character|concurren|connection|deadline|document|file|image|output|propert|"
    r"retr|schema|string|time|tool|url)).){0,60}?"
)
_BEYOND = r"\b(?:exceed(?:s|ed|ing)?|over|(?:bigger|greater|larger|longer|more) than)\b"
_LENGTH = r"(?:context|tokens?\b|max\w{0,20} (?:input |prompt )?length)"
_LIMIT = rf"(?:{_LENGTH}|limit|maximum|\bmax)"
_TOO_LONG = _any(
    rf"{_SUBJECT}{_GAP}{_BEYOND}{_GAP}{_LIMIT}",
    rf"{_REQUEST}{_GAP}{_BEYOND}{_GAP}{_LENGTH}",
    rf"(?:{_SUBJECT}|{_REQUEST})(?: length| size)? (?:(?:is|are|was|were) )?too (?:large|long)",
    rf"too large for model with {_NUMBER} maximum context length",  # Mistral
    r"tokens of image and text exceed",  # DashScope, StepFun
    r"maximum (?:context|prompt|sequence) length is",
    r"maximum context length of",
    r"context (?:length|limit|size|window)\W+(?:was |is |has been )?exceed",
    r"exceeds? (?:the )?context (?:limit|window)",
    r"keep the first \d+ tokens when context the overflows",  # LM Studio
    r"number of tokens to keep from the initial prompt",
    r"input tokens exceed(?:s|ed)?\b|tokens? limit exceeded|too many (?:input |prompt )?tokens",
    r"malformed input request: expected maxlength|max input characters is",
    r"model only supports up to \d|request body too large for .{1,100}? max size: \d+ tokens",
    r"reached (?:the )?(?:maximum )?context length|context overflow",
    r"exceed(?:s|ed)? (?:this|the) (?:model'?s? )?context (?:length|window)",
    r"max_seq_len exceeded|must be less than max_seq_len|max tokens of \d+ exceeded",
    r"default_max_tokens \(-\d+\) must be|should not exceed max_(?:num_tokens|seq_len|input_len)",
    r"input tokens must be (?:no more|less) than",
    r"inputs` (?:must have less than|tokens \+)",  # Hugging Face
    r"range of input length should be",  # DashScope
    r"reduce (?:the (?:length|size|number) of )?(?:the |your )(?:input|messages|prompt)\b",
    r"(?:reduce|shorten) (?:the|your) (?:conversation|message size|prompt)",
    r"(?:上下文|输入|prompt|提示)[^。]{0,20}?(?:超[过出长]|过长|太长|大于)",
)
_OTHERS = re.compile(
    r"\bbytes\b|\d ?[KM]i?B\b|payload|please wait|\bper (?:day|hour|min)|quota|rate.?limit|throttl|"
    r"too many requests|maximum tokens you requested",
    re.IGNORECASE,
)
"""The words of limits of another kind."""
_ONE_REQUEST = re.compile(r"\brequest too large for\b.{0,400}?\brequested\b", re.IGNORECASE | re.DOTALL)
"""A request that alone has more tokens than may be sent in a minute: no wait helps."""
_TOKENS = re.compile(rf"(?<![\w.,:/-]){_NUMBER}(?![\w/-]|\.\d)")
_LEAST_LENGTH = 256
_LIMIT_ALONE = re.compile(
    r"(?:(?:length|max(?:imum)?|size|tokens?(?: allowed)?|window)(?: is| of|:)? \(?|limit(?: is| of|:) )\d",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Lengths:
    """The tokens that were ``counted`` of the prompt, those that the ``answer`` may have, where it is both
    together that is too long, and the ``most`` that there may be; each as far as it is said."""

    counted: int | None = None
    answer: int | None = None
    most: int | None = None


def overflow(message: str) -> Lengths | None:
    """The lengths, as far as ``message`` has them; ``None`` when the error is about something else."""
    said = message[:_MOST_READ]
    alone = _ONE_REQUEST.search(said) is not None
    if not alone and (_OTHERS.search(said) or not any(pattern.search(said) for pattern in _TOO_LONG)):
        return None
    for pattern in _LENGTHS:
        if found := pattern.search(said):
            return _lengths(found.groupdict())
    numbers = {_number(each[0]) or 0 for each in _TOKENS.finditer(said)}
    lengths = sorted(number for number in numbers if number >= _LEAST_LENGTH)
    if len(lengths) == 2:
        return Lengths(counted=lengths[1], most=lengths[0])
    limit = _LIMIT_ALONE.search(said) if len(lengths) == 1 else None
    return Lengths(most=lengths[0] if limit else None)


def _lengths(named: Mapping[str, str | None]) -> Lengths:
    counted, answer, most, total = (
        _number(named.get(name)) for name in ("counted", "answer", "most", "total")
    )
    return Lengths(counted if total is None else total - (answer or 0), answer, most)


def _number(written: str | None) -> int | None:
    return int(written.partition(".")[0].replace(",", "")) if written else None
