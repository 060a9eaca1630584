"""What each format does with reasoning, caches, ids, order and a schema of the answer, by family of models.

For docs/reference/formats.md: each cell is what a format did with a sample."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from toolspan_bridge.formats import format_names, get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Part,
    Request,
    ToolCall,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
)

from .recordings import recorded_by_format

HEADS = (
    "format",
    "model",
    "reasoning sent back",
    "effort `high`",
    "caching",
    "ids of calls",
    "user after a result",
    "schema of the answer",
    "proof",
)
ABOUT = """\
One model of each family that a table in the code knows; models of other names get what every model takes.
Reasoning goes back to the provider that it came from only. Ids of calls that a provider would not take
are replaced. `proof` is when an exchange in this format was recorded.
"""
FAMILIES: Mapping[str, Sequence[str]] = {
    "anthropic": (
        "claude-opus-5-5",
        "claude-opus-5",
        "claude-sonnet-5-5",
        "claude-opus-4-7",
        "claude-opus-4-6",
        "claude-opus-4-5",
        "claude-opus-4",
        "claude-sonnet-4",
        "claude-3-7-sonnet",
        "claude-3-5-haiku",
        "claude-3-opus",
    ),
    "bedrock": (
        "anthropic.claude-sonnet-4-6",
        "amazon.nova-2-lite-v1:0",
        "amazon.nova-pro-v1:0",
        "meta.llama4-maverick-17b-instruct-v1:0",
        "mistral.pixtral-large-2502-v1:0",
        "qwen.qwen3-235b-a22b-2507-v1:0",
        "openai.gpt-oss-120b-1:0",
    ),
    "bedrock-anthropic": (
        "anthropic.claude-opus-5-5",
        "anthropic.claude-opus-4-6",
        "anthropic.claude-opus-4",
    ),
    "gemini": ("gemini-3-pro", "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.0-flash"),
    "openai-responses": ("gpt-5.4", "gpt-5-pro", "gpt-5", "o4-mini", "gpt-4.1"),
}
_THOUGHT = "SAMPLE-THOUGHT"
_IDS = {"24 letters": "toolu_01AbCdEfGhIjKlMnOp", "64 letters": "x" * 64, "any": "§" * 70}
_TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {}})
_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
_LONG = "The rules of the house. " * 2_000
_WORDS = ("messages", "system", "systemInstruction", "input", "instructions", "contents")
_SAMPLE = Request("m", (User("hi"),), tools=(_TOOL,))


def rows() -> Iterator[Sequence[str]]:
    """A line for each family, and one for each format whose models are all alike."""
    for name in format_names():
        for model in FAMILIES.get(name, ("",)):
            yield (
                f"`{name}`",
                f"`{model}`" if model else "any",
                *_cells(name, replace(_SAMPLE, model=model)),
            )


def _cells(name: str, sample: Request) -> Iterator[str]:
    yield _reasoning(name, sample)
    yield _added(name, sample, replace(sample, reasoning="high"))
    yield _caching(name, sample)
    yield _ids(name, sample)
    yield _order(name, sample)
    yield _schema(name, sample)
    yield recorded_by_format(name)


def _body(name: str, request: Request) -> dict[str, Any]:
    return get_format(name).render_request(request, NameTable.of(request.tools))


def _reasoning(name: str, sample: Request) -> str:
    """In which turns the thoughts of an answer, as the provider writes it, are in the next request."""
    spoken = import_module(f"tests.support.wires.{name.replace('-', '_')}").spoken
    thought, text = ("thought", _THOUGHT), ("text", "Yes.")
    call = ("call", ("toolu_01AbC", "s__t", {}))
    back = []
    for turn, parts in (("with calls", (thought, call)), ("without", (thought, text))):
        said = get_format(name).parse_reply(spoken(parts)[0]).message
        said = replace(said, opaque_format=said.opaque_format or name)
        after: Message = (
            ToolResults(tuple(_outcome(each.id) for each in said.calls)) if said.calls else User("?")
        )
        request = replace(sample, messages=(User("hi"), said, after))
        if _THOUGHT in json.dumps(_body(name, request)):
            back.append(turn)
    return {0: "–", 1: f"in turns {' '.join(back)}", 2: "in all turns"}[len(back)]


def _outcome(call_id: str) -> ToolOutcome:
    return ToolOutcome(call_id, "s__t", {"success": True, "result": "22"}, (Part("text", {"text": "22"}),))


def _added(name: str, before: Request, after: Request) -> str:
    """What of the body ``after`` has and ``before`` does not."""
    old, new = _body(name, before), _body(name, after)
    told = [
        f"`{key}: {json.dumps(_without(value, old.get(key)), ensure_ascii=False)}`"
        for key, value in new.items()
        if old.get(key) != value and key not in (*_WORDS, "max_tokens")
    ]
    return ", ".join(told) or "–"


def _without(value: Any, known: Any) -> Any:
    if isinstance(value, dict) and isinstance(known, dict):
        return {key: inner for key, inner in value.items() if known.get(key) != inner}
    return value


def _caching(name: str, sample: Request) -> str:
    """The member by which the provider is told what to keep."""
    asked = replace(sample, system=_LONG, conversation="c-1", messages=(User(_LONG),))
    new, old = (json.dumps(_body(name, replace(asked, cache=cache))) for cache in (True, False))
    marks = ("cache_control", "cachePoint", "prompt_cache_key")
    return next((f"`{mark}`" for mark in marks if mark in new and mark not in old), "by itself")


def _ids(name: str, sample: Request) -> str:
    kept = [told for told, given in _IDS.items() if _sent_id(name, sample, given)]
    return f"kept: {', '.join(kept)}" if kept else "none are sent"


def _sent_id(name: str, sample: Request, given: str) -> bool:
    said = Assistant(calls=(ToolCall(given, "s__t", {}),))
    body = _body(name, replace(sample, messages=(User("hi"), said, ToolResults((_outcome(given),)))))
    return given in json.dumps(body, ensure_ascii=False)


def _order(name: str, sample: Request) -> str:
    """How a question that follows a result is sent."""
    said = Assistant(calls=(ToolCall("toolu_01AbC", "s__t", {}),))
    sent = (User("hi"), said, ToolResults((_outcome("toolu_01AbC"),)), User("SAMPLE-QUESTION"))
    body = _body(name, replace(sample, messages=sent))
    turns = next(body[key] for key in ("messages", "contents", "input") if key in body)
    results = [place for place, turn in enumerate(turns) if "22" in json.dumps(turn)]
    asked = [place for place, turn in enumerate(turns) if "SAMPLE-QUESTION" in json.dumps(turn)]
    if results == asked:
        return "in the same message"
    return "in a message of its own" if asked[0] == results[-1] + 1 else "after an assistant's message"


def _schema(name: str, sample: Request) -> str:
    """The member that holds the schema of the answer, alone and beside tools."""
    alone, beside = _schema_keys(name, replace(sample, tools=())), _schema_keys(name, sample)
    if not alone:
        return "in words"
    return ", ".join(f"`{key}`" for key in alone) + (", beside tools too" if beside == alone else "")


def _schema_keys(name: str, sample: Request) -> list[str]:
    old, new = _body(name, sample), _body(name, replace(sample, answer_schema=_SCHEMA))
    return [key for key, value in new.items() if old.get(key) != value and key not in _WORDS]
