"""The rules by which a provider's error is understood, and the order in which they are tried."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ....errors import Fault
from .overflow import CODES as OVERFLOW_CODES
from .overflow import Lengths, overflow
from .parameters import TOOL_SETTINGS, refused_parameter

_REFUSALS = frozenset({400, 404, 413, 422})
_BAD_REQUEST = frozenset({400, 422})

_CODES: dict[str, Fault] = {
    "output_parse_failed": "generation",  # Groq
    "tool_use_failed": "generation",
    "invalid_encrypted_content": "changed_prefix",  # OpenAI: reasoning of another organization or model
    "invalid_request_message_order": "message_order",  # Mistral
    "3230": "message_order",
}


def _rule(fault: Fault, *patterns: str) -> tuple[Fault, re.Pattern[str]]:
    return fault, re.compile("|".join(patterns), re.IGNORECASE | re.DOTALL)


_TEXTS = (
    _rule("changed_prefix", r"bound to a different conversation", r"encrypted content .{0,200}could not be "),
    _rule(
        "wrong_wire",
        r"function tools with reasoning_effort are not supported",  # OpenAI
        r"(?:only|not) supported (?:in|with|by) (?:the )?(?:/?v1/(?:responses|chat/comp)|responses api)",
        r"use (?:the )?/?v1/(?:responses|chat/completions)",
        r"responses api is not (?:supported|enabled|available)",
        r"(?:chatcompletion|responses?) operation does not work with the specified model",  # Azure
    ),
    _rule(
        "generation",
        r"failed to call a function",
        r"failed_generation",
        r"tool call validation failed",
        r"error parsing tool call",  # Ollama
        r"failed to parse input at pos",  # llama.cpp
        r"model produced output that does not match the expected",
        r"xml syntax error on line|failed to parse xml|expected element type <",  # Ollama
        r"unexpected tokens remaining in message header|while expecting start token",  # vLLM, of gpt-oss
        r"failed to parse (?:the )?(?:model'?s? )?tool[ _-]?calls?\b(?! arguments)",
        r"error (?:in|while) (?:extracting|parsing) (?:the )?tool[ _-]?calls?",
        r"failed to parse fc related info",  # SGLang
        r"invalid sequence as part of ToolUse",  # Bedrock, Nova
        r"malformed_function_call",
    ),
    _rule("other", r"tool use with function calling is unsupported"),  # Gemini's own tools beside functions
    _rule("parameter", r"doesn't support tool use in streaming mode"),  # Bedrock
    _rule(
        "no_tools",
        r"requires --enable-auto-tool-choice|requires --tool-call-parser",  # vLLM
        r"tools param requires --jinja",  # llama.cpp
        r"(?:does not|doesn't|do not|cannot) support (?:the use of )?(?:native )?"
        r"(?:tools?|functions?)\b(?![\w.]|[ -]choice)",
        r"no endpoints found that support tool use",  # OpenRouter
        r"function calling is not (?:enabled|supported)",
        r"tool[ _](?:calling|use)['\"`]? is not supported",
        r"['\"`]tools['\"`] (?:is|are) not supported",
    ),
    _rule(
        "message_order",
        r"unexpected role|expected last role|not the same number of function calls and responses",  # Mistral
        r"tool call id was .{1,80} but must be",
        r"roles must alternate",
        r"must (?:start|begin) with a user|first turn must be",
        r"ids were found without|unexpected `?tool_use_id|each `?tool_(?:use|result)",  # Anthropic
        r"must be (?:followed by tool messages|a response to a prec)",  # OpenAI
        r"did not have response messages",
        r"no tool (?:output|call) found for function call",
        r"without its required .{0,40}item",
        r"function call turn comes immediately after|number of function response parts",  # Gemini
        r"missing a thought_signature|thought_signature is not valid",
        r"expected toolresult blocks|toolresult blocks .{0,80}exceeds the number",  # Bedrock
        r"reasoning_content.{0,80}(?:missing|must be passed back)|thinking mode must be passed back",
        r"expected `?(?:redacted_)?thinking|must start with a thinking block|signature in thinking block",
    ),
)
_ACCOUNT = (
    _rule(
        "credit",
        r"credit balance (?:is )?too low|account is in good standing|please (?:recharge|top up|add credits)",
        r"(?:balance|credits?|funds) (?:is|are) (?:insufficient|exhausted|depleted|not)",
        r"(?:insufficient|not enough) (?:account )?(?:balance|credits?|funds|quota)\b|out of credits?\b",
        r"used all[\w ]{0,30} credits?\b|requires? more credits|payment required|monthly included credits",
        r"arrearage|in arrears|account (?:is|has been) (?:overdue|suspended)|billing (?:hard )?limit",
        r"余额不足|欠费|资源包",
    ),
    _rule(
        "key",
        r"(?:incorrect|invalid|missing|no valid|wrong) (?:x-)?api[ _-]?key|api_key_invalid",
        r"api[ _-]?key (?:is |was )?(?:not valid|invalid)|invalid (?:access|bearer|security) token",
        r"(?:access|bearer|security) token .{0,40}?(?:is|has) (?:expired|invalid)",
        r"could not validate credentials",
    ),
    _rule(
        "content",
        r"content[ _](?:filter|management policy|policy)|flagged|requires moderation|data_?inspection",
        r"inappropriate content|content exists risk|sensitive (?:content|words?)|不安全或敏感|safety system",
    ),
)
"""What of an account's troubles and of filters is said with any status."""
_SERVER_SIDE: frozenset[Fault] = frozenset({"generation", "no_tools"})
_ABOUT_A_SCHEMA = re.compile(r"schema|function_?declarations?|additionalProperties|\$ref", re.IGNORECASE)
_ABOUT_TOOLS = re.compile(
    rf"\btools?\b|\bfunctions?\b|tool_?(?:config|spec)|{_ABOUT_A_SCHEMA.pattern}", re.IGNORECASE
)


_NO_LENGTHS = Lengths()
_MOST_READ = 8_000


@dataclass(frozen=True, slots=True)
class Finding:
    """What an error is about. ``parameter`` is the name of a setting that is not taken; ``lengths`` are those
    of a request that is too long."""

    fault: Fault = "other"
    parameter: str = ""
    lengths: Lengths = _NO_LENGTHS


def find_fault(
    status: int, codes: Sequence[str], message: str, *, param: str = "", names_tool: bool = False
) -> Finding:
    """What the error is about, by its HTTP ``status``, the provider's ``codes`` and its ``message``.

    ``param`` is the place in the request that the provider names apart from the message; ``names_tool`` is
    whether it names one of the tools.
    """
    said = frozenset(codes)
    if (about := _of_account(status, said, message)) is not None:
        return Finding(about)
    if status not in _REFUSALS and status not in (424, 429) and status < 500:
        return Finding()
    lengths = overflow(message)
    if lengths is not None or said & OVERFLOW_CODES:
        return Finding("context_overflow", lengths=lengths or Lengths())
    parameter = refused_parameter(said, message, param) if status in _REFUSALS else ""
    named = _named_fault(said, message)
    if named is not None and (status in _REFUSALS or named in _SERVER_SIDE):
        return Finding(named, parameter if named == "parameter" else "")
    if status not in _REFUSALS:
        return Finding()
    if parameter == "tools":
        return Finding("no_tools")
    of_a_tool = names_tool or (not param and _ABOUT_A_SCHEMA.search(message) is not None)
    if parameter and (parameter in TOOL_SETTINGS or not of_a_tool):
        return Finding("parameter", parameter)
    about_tools = names_tool or _ABOUT_TOOLS.search(message) is not None
    return Finding("tool" if about_tools and status in _BAD_REQUEST else "other")


def _of_account(status: int, codes: frozenset[str], message: str) -> Fault | None:
    """Whether the error is about the account, its key, or what is asked; a server's own is about none."""
    text = " ".join((message[:_MOST_READ], *sorted(codes)))
    found: Fault | None = next((fault for fault, pattern in _ACCOUNT if pattern.search(text)), None)
    if found == "credit":
        return found
    return found if status in (400, 403) else None


def _named_fault(codes: frozenset[str], message: str) -> Fault | None:
    for code in codes & _CODES.keys():
        return _CODES[code]
    return next((fault for fault, pattern in _TEXTS if pattern.search(message)), None)
