"""A mutating proxy between all parts: client and gateway, gateway and provider, bridge and MCP servers, on
pipes and over HTTP.

What is changed was right before, so that it gets far. It goes on for ``SECONDS``, or for
``TOOLSPAN_FUZZ_SECONDS``; the seed of a failure is in its message.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support.cost import reference
from tests.support.fuzzing import go_on
from tests.support.hostile_parts import MODEL, USUAL, Parts, hostile_parts
from tests.support.processes import processor_seconds

pytestmark = [
    pytest.mark.long,
    pytest.mark.requirement("I24.4.3"),
    pytest.mark.skipif(sys.platform != "linux", reason="processor time is read from /proc"),
]

ROUNDS = 200
SECONDS = 25.0
UNITS = 200
"""What the app may compute for one exchange."""
_TOOL = {
    "name": "t",
    "description": "d",
    "parameters": {"type": "object", "properties": {"a": {"type": "string"}}},
}
_ASK: dict[str, Any] = {"role": "user", "content": "x"}
_CALL = {"id": "c", "type": "function", "function": {"name": "t", "arguments": '{"a":"b"}'}}
REQUESTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "s"},
            _ASK,
            {"role": "assistant", "content": None, "tool_calls": [_CALL]},
            {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "r"}]},
        ],
        "tools": [{"type": "function", "function": _TOOL}],
        "max_tokens": 9,
        "temperature": 1.0,
        "stream": False,
        "stop": ["x"],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "n", "schema": {"type": "object"}},
        },
    },
    "/v1/responses": {
        "model": MODEL,
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}],
        "tools": [{"type": "function", **_TOOL}],
        "max_output_tokens": 99,
        "store": True,
        "reasoning": {"effort": "low"},
    },
    "/v1/messages": {
        "model": MODEL,
        "max_tokens": 9,
        "system": "s",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}],
        "tools": [{"name": "t", "input_schema": {"type": "object"}}],
    },
    "/v1/messages/count_tokens": {"model": MODEL, "messages": [_ASK]},
    "/api/tools/call": {"server": "hostile", "name": "t", "arguments": {"a": 1}, "approved": True},
    "/api/tools/call?": {"server": "remote", "name": "t", "arguments": {"a": 1}, "approved": True},
}
ANSWER = {
    **USUAL,
    "choices": [
        {"index": 0, "message": {"role": "assistant", "tool_calls": [_CALL]}, "finish_reason": "tool_calls"}
    ],
}
RESULT: dict[str, Any] = {
    "content": [{"type": "text", "text": '{"success":false,"error":"e","error_code":"c","user_action":"u"}'}],
    "structuredContent": {"success": True, "result": 1},
    "isError": False,
    "_meta": {"execution_time_ms": 1.5},
}
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**53, 2**63, 2**64, 10**400, 1.5, 1e308, "", "\ud800", "\x00", "\u202e",
    "x" * 70_000, "9" * 500, [], {}, [[]], {"": None}, {"a": {"b": [1]}}, "NaN", "\n\n", "é", ["x"] * 500,
)  # fmt: skip


def mutated(value: Any, rng: random.Random) -> Any:
    """``value`` with one place in it made into something else."""
    if rng.random() < 0.3 or not isinstance(value, dict | list) or not value:
        return rng.choice(ODD)
    if isinstance(value, list):
        place = rng.randrange(len(value))
        inner = [] if rng.random() < 0.1 else [mutated(value[place], rng)] * rng.choice((1, 1, 1, 2, 40))
        return [*value[:place], *inner, *value[place + 1 :]]
    key = rng.choice(list(value))
    changed = {name: each for name, each in value.items() if name != key or rng.random() < 0.9}
    named = rng.choice((key, key, key, rng.choice(("\ud800", "", "x" * 300, "$ref"))))
    return {**changed, named: mutated(value[key], rng)}


def written(value: Any, rng: random.Random) -> bytes:
    """``value`` as JSON, now and then with a byte that does not belong there."""
    raw = json.dumps(value).encode()
    if rng.random() < 0.15:
        place = rng.randrange(len(raw))
        raw = (
            raw[:place]
            + rng.choice((b"", b"\xff", b"\\ud800", b"NaN", b"1e999", b"[" * 200))
            + raw[place + 1 :]
        )
    return raw


def exchange(parts: Parts, rng: random.Random) -> tuple[str, int]:
    """One request, one answer and one result, any of them changed; what was asked, and the status."""

    def changed(value: Any) -> bytes:
        for _ in range(rng.choice((0, 1, 1, 2))):
            value = mutated(value, rng)
        return written(value, rng)

    status = rng.choice((200, 200, 200, 400, 404, 999))
    parts.provider.answer = (status, changed(rng.choice((USUAL, ANSWER))))
    result = changed(RESULT).decode("utf-8", "replace").replace("\n", " ")
    parts.result.write_text(result)
    parts.remote.answer = (rng.choice((200, 200, 200, 202, 404, 500, 999)), *remote_answer(result, rng))
    path = rng.choice(list(REQUESTS))
    reply = parts.ask(path, raw=changed(REQUESTS[path]))
    assert 200 <= reply.status < 600 and b"Traceback" not in reply.body
    assert b"unexpected" not in reply.body, reply.body
    return path, reply.status


def remote_answer(result: str, rng: random.Random) -> tuple[str, bytes]:
    """A media type, and an answer with ``result`` in it."""
    message = b'{"jsonrpc":"2.0","id":$ID,"result":%s}' % result.encode()
    if rng.random() < 0.2:
        message = written(
            mutated({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "m"}}, rng), rng
        )
    if rng.random() < 0.5:
        return rng.choice(("application/json", "application/json", "text/plain", "")), message
    return "text/event-stream", rng.choice(
        (b"data: %s\n\n", b"event: x\ndata: %s\n\n", b"data: %s")
    ) % message


def test_whatever_passes_between_the_parts_the_app_goes_on(tmp_path: Path) -> None:
    seeds, endings = count(), Counter[tuple[str, int]]()
    allowed = UNITS * reference()

    def examined() -> None:
        for _ in range(ROUNDS):
            seed = next(seeds)
            began = processor_seconds(parts.app.process.pid)
            try:
                endings[exchange(parts, random.Random(seed))] += 1
                if seed % 5 == 0:
                    parts.check()
                assert processor_seconds(parts.app.process.pid) - began < allowed, "the app computed for long"
            except Exception as fault:
                raise AssertionError(f"the seed {seed}: {parts.app.errors.read_text()[-3_000:]}") from fault
        parts.check()

    with hostile_parts(tmp_path) as parts:
        go_on(examined, SECONDS)
    print(f"{endings.total()} exchanges:", dict(endings))
    assert {path for path, status in endings if status == 200} == set(REQUESTS), endings
