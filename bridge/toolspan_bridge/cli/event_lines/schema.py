"""The JSON Schema of a line of ``ask --jsonl``, published as ``docs/reference/events.schema.json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["line_schema"]

_STRING = {"type": "string"}
_OBJECT = {"type": "object"}
_BOOLEAN = {"type": "boolean"}
_NUMBER = {"type": "number"}
_COUNT = {"type": "integer", "minimum": 0}
_TEXT = {"text": _STRING}
_TURN = {"iteration": _COUNT}
_CALL = {"tool_use_id": _STRING, "tool_name": _STRING}
_SERVER_CALL = {**_CALL, "server": _STRING}
_ARGUMENTS = {"type": ["object", "null"]}

_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "written_tokens")
_USAGE = {"type": "object", "properties": dict.fromkeys(_TOKENS, _COUNT), "required": list(_TOKENS)}
_DECISION = {"allowed": _BOOLEAN, "decider": _STRING, "scope": _STRING}
_USE = {
    "type": "object",
    "properties": {
        "tool": _STRING,
        "arguments": _ARGUMENTS,
        "result": _OBJECT,
        "iteration": _COUNT,
        "rescued": _BOOLEAN,
    },
    "required": ["tool", "arguments", "result", "iteration"],
}
_ANSWER = {
    "content": _STRING,
    "model": _STRING,
    "provider": _STRING,
    "tool_calls": {"type": "array", "items": _USE},
    "usage": _USAGE,
    "iterations": _COUNT,
    "cost": {"type": "object", "properties": {"usd": {"type": ["number", "null"]}}, "required": ["usd"]},
}
_ANSWER_MAY = {
    "conversation": _STRING,
    "value": {},
    "notes": {"type": "array", "items": _STRING},
    "citations": {"type": "array", "items": _OBJECT},
    "stop": _STRING,
    "reason": _STRING,
    "limit": _STRING,
    "incomplete": _BOOLEAN,
    "max_iterations_reached": _BOOLEAN,
    "repeated_calls_stopped": _BOOLEAN,
}

_Keys = Mapping[str, Any]
_NONE: _Keys = {}
_LINES: Mapping[str, tuple[str, _Keys, _Keys]] = {
    "iteration_started": (
        "The model is asked; closing: for the last time, without tools.",
        {**_TURN, "closing": _BOOLEAN},
        _NONE,
    ),
    "text_delta": ("More of the turn's text, as it streams.", _TEXT, _NONE),
    "reasoning_delta": (
        "More of the thoughts that the model lets be seen; was_text: all text deltas of the turn so far.",
        _TEXT,
        {"was_text": _BOOLEAN},
    ),
    "call_delta": (
        "More of a call that the model writes, to be shown only.",
        {"index": _COUNT, "tool_name": _STRING, "arguments": _STRING},
        _NONE,
    ),
    "text": ("The whole text of a turn.", {**_TEXT, **_TURN}, _NONE),
    "text_retracted": (
        "The text that came of the turn is no part of the answer: the model is asked again.",
        _TURN,
        _NONE,
    ),
    "tool_call_started": (
        "The model wants this call; tool_input is null where it sent no JSON object.",
        {**_SERVER_CALL, "tool_input": _ARGUMENTS, **_TURN},
        {"rescued": _BOOLEAN},
    ),
    "tool_approval_request": (
        "The call waits for approval.",
        {**_SERVER_CALL, "tool_input": _OBJECT, "reason": _STRING},
        {"facts": {"type": "array", "items": _STRING}},
    ),
    "tool_approval_answer": (
        "What was decided about it.",
        {**_CALL, **_DECISION},
        {"reason": _STRING, "arguments": _OBJECT},
    ),
    "tool_progress": (
        "How far a running call is, in a unit of the tool's own.",
        {**_SERVER_CALL, "progress": _NUMBER, "total": {"type": ["number", "null"]}, "message": _STRING}
        | _TURN,
        _NONE,
    ),
    "tool_log": (
        "A log message of the server during a call.",
        {**_SERVER_CALL, "level": _STRING, **_TEXT, **_TURN},
        _NONE,
    ),
    "elicitation_request": (
        "A server asks the person.",
        {**_SERVER_CALL, "number": _COUNT, "mode": _STRING, "message": _STRING},
        {"requested_schema": _OBJECT, "url": _STRING},
    ),
    "elicitation_answer": (
        "The person's answer.",
        {**_CALL, "number": _COUNT, "action": _STRING},
        {"content": _OBJECT},
    ),
    "sampling_request": (
        "A server wants a model to be asked.",
        {**_SERVER_CALL, "number": _COUNT, "params": {}},
        _NONE,
    ),
    "sampling_answer": (
        "What came of it: the result, or why it was refused.",
        {**_SERVER_CALL, "number": _COUNT},
        {"result": {}, "model": _STRING, "provider": _STRING, "usage": _USAGE, "refused": _STRING},
    ),
    "tool_call_finished": (
        "The call's one outcome: its tool result, whether it was made or refused.",
        {**_SERVER_CALL, "result": _OBJECT, **_TURN},
        _NONE,
    ),
    "subagent_event": (
        "What a sub-agent does that the call started; agent names its task.",
        {**_CALL, "agent": _STRING, "event": {"$ref": "#"}, **_TURN},
        _NONE,
    ),
    "hook_ran": (
        "A hook ran.",
        {"hook": _STRING, "point": _STRING, "outcome": _STRING},
        {"reason": _STRING, **_CALL},
    ),
    "usage_reported": ("The tokens of a turn.", {"usage": _USAGE, **_TURN}, _NONE),
    "notice": ("Something that the person should know.", _TEXT, _NONE),
    "end": ("The last line: what ask --json prints.", _ANSWER, _ANSWER_MAY),
}
"""Of each type: what it says, the keys that it always has, and those that it may have."""


def line_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a line."""
    lines = [_line(name, *line) for name, line in _LINES.items()]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of toolspan ask --jsonl",
        "oneOf": lines,
    }


def _line(name: str, says: str, always: _Keys, sometimes: _Keys) -> dict[str, Any]:
    return {
        "title": name,
        "description": says,
        "type": "object",
        "properties": {"type": {"const": name}, **always, **sometimes},
        "required": ["type", *always],
        "additionalProperties": False,
    }
