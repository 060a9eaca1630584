"""Recognises the error for a setting that a model does not take, and reads the setting's name."""

from __future__ import annotations

import re

_NAME = r"(?P<name>[A-Za-z_][\w.\[\]]{1,80}?)"
_QUOTED = rf"['\"`]{_NAME}['\"`]"

CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter"})
"""OpenAI's codes of such errors, with the name in ``param``."""

_TEXTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # OpenAI, Azure
        rf"(?:unsupported|unknown) parameter:? {_QUOTED}",
        rf"unsupported value:? {_QUOTED}",
        rf"unrecognized request arguments? supplied: {_NAME}(?:\W|$)",
        # Anthropic, also on Bedrock
        rf"{_QUOTED} is deprecated for this model",
        rf"(?:^|\s){_NAME}: extra inputs are not permitted",
        r"when (?P<name>tool_choice) forces tool use",
        rf"{_QUOTED}(?: and {_QUOTED.replace('name', 'other')})? cannot both be specified",
        # Groq, Cerebras
        rf"property {_QUOTED} is unsupported",
        # Gemini, Vertex AI
        rf"unknown name {_QUOTED}",
        # Bedrock
        rf"doesn't support the {_NAME} field",
        r"doesn't support tool use in (?P<name>stream)ing mode",
        r"unsupported for (?P<name>stream)ing",
        rf"extraneous key \[{_NAME}\]",
        # xAI
        rf"(?:does not support parameter|argument not supported on this model:?) {_NAME}(?:\W|$)",
        # OpenRouter
        rf"support the provided {_QUOTED} value",
        # Fireworks
        rf"extra inputs are not permitted, field: {_QUOTED}",
        # Ollama
        r"does not support (?P<name>think)ing",
        r"(?P<name>think) value .{1,40} is not supported",
        # others
        rf"{_QUOTED} is not (?:supported|allowed|permitted)(?: (?:with|by|for|on) this model)?",
        r"\b(?P<name>temperature|top_[pk]|stream_options|parallel_tool_calls|reasoning_effort|response_format|"
        r"tool_choice|max_(?:completion_)?tokens) (?:is|are) (?:not supported|unsupported|not allowed)",
    )
)
TOOL_SETTINGS = frozenset(
    {
        "allowed_callers",
        "cache_control",
        "defer_loading",
        "eager_input_streaming",
        "output_schema",
        "strict",
    }
)
"""The settings beside a tool's schema: they are refused of every tool alike, whichever is named."""

_OF_A_TOOL = re.compile(r"^tools(?:\[\d+\]|\.\d+)(?:\.(?:function|custom|toolSpec))?\.(?P<name>\w+)$")
_WIRE_PREFIX = re.compile(r"^body\.")


def refused_parameter(codes: frozenset[str], message: str, param: str) -> str:
    """The name of the setting, as the request has it; ``""`` when the error is about something else.

    A setting within another, such as ``reasoning.effort``, keeps its path; one of every tool is its own name.
    """
    name = param if param and codes & CODES else ""
    if not name:
        found = next(filter(None, (pattern.search(message) for pattern in _TEXTS)), None)
        name = found["name"] if found else ""
    name = _WIRE_PREFIX.sub("", name)
    of_a_tool = _OF_A_TOOL.search(name)
    return of_a_tool["name"] if of_a_tool and of_a_tool["name"] in TOOL_SETTINGS else name
