"""Requests to the gateway whose reading, conversion or counting could grow faster than they do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.hostile_schemas import HOSTILE
from tests.support.raw_http import RawClient, request

from ..attack import Attack, Target

_MANY = 1_500
_MODEL = "openai/gpt-4"
_ASK = {"role": "user", "content": "hello"}
_PROPERTY = {"type": "string", "enum": ["a", "b"]}
_IMAGE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awA="
)


def _config(folder: Path) -> Path:
    path = folder / "toolspan.json"
    registry = [{"name": "a", "description": "a", "implementation": {"type": "mock", "mock_response": 1}}]
    path.write_text(json.dumps({"tools": {"registry": registry}}))
    return path


def _schemas() -> Iterator[tuple[str, Any]]:
    numbers = range(_MANY)
    yield "properties", {"properties": {f"p{n}": _PROPERTY for n in numbers}}
    yield "enum", {"properties": {"p": {"enum": [f"v{n}" for n in range(20 * _MANY)]}}}
    yield (
        "branches",
        {"properties": {"p": {"anyOf": [{"type": "string", "const": f"v{n}"} for n in numbers]}}},
    )
    definitions = {f"d{n}": {"type": "string"} for n in numbers}
    yield (
        "definitions",
        {"properties": {f"p{n}": {"$ref": f"#/$defs/d{n}"} for n in numbers}, "$defs": definitions},
    )
    chain: dict[str, Any] = {
        f"d{n}": {"type": "object", "properties": {"n": {"$ref": f"#/$defs/d{n + 1}"}}} for n in numbers
    }
    yield (
        "chain",
        {"properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": {**chain, f"d{_MANY}": {"type": "string"}}},
    )
    yield "names", {"properties": {f"p{n}{'x' * 500}": {"type": "string"} for n in numbers}}
    yield "pattern", {"properties": {"p": {"type": "string", "pattern": "a" * 1_000_000}}}
    row = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}]} for n in range(20 * _MANY)}
    yield "row", {"$ref": "#/$defs/d0", "$defs": {**row, f"d{20 * _MANY}": {}}}
    for name, (schema, _) in HOSTILE.items():
        yield name, schema


def _tool(schema: Any, name: str = "t") -> dict[str, Any]:
    parameters = {"type": "object", **schema}
    return {"type": "function", "function": {"name": name, "strict": True, "parameters": parameters}}


def _bodies() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in _schemas():
        yield f"tool: {name}", {"messages": [_ASK], "tools": [_tool(schema)]}
        form = {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "object", **schema}}}
        yield f"answer: {name}", {"messages": [_ASK], "response_format": form}
    small = {"properties": {f"p{n}": {"type": "string"} for n in range(20)}}
    yield "tools", {"messages": [_ASK], "tools": [_tool(small, f"t{n}") for n in range(900)]}
    many = range(4 * _MANY)
    yield "questions", {"messages": [{"role": "user", "content": f"hello {n}"} for n in many]}
    yield "answers", {"messages": [*({"role": "assistant", "content": f"a {n}"} for n in many), _ASK]}
    yield "instructions", {"messages": [*({"role": "system", "content": f"a {n}"} for n in many), _ASK]}
    yield (
        "parts",
        {"messages": [{"role": "user", "content": [{"type": "text", "text": f"{n}"} for n in many]}]},
    )
    image = {"type": "image_url", "image_url": {"url": _IMAGE}}
    yield "images", {"messages": [{"role": "user", "content": [image] * _MANY}]}
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "t", "arguments": "{}"}} for n in many]
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": "r"} for n in many]
    yield "calls", {"messages": [_ASK, {"role": "assistant", "tool_calls": calls}, *results]}
    turns = [
        each for n in range(_MANY) for each in ({"role": "assistant", "tool_calls": [calls[n]]}, results[n])
    ]
    yield "turns", {"messages": [_ASK, *turns]}
    for name, text in (
        ("words", "lorem ipsum " * 300_000),
        ("blanks", " " * 3_500_000),
        ("é", "é" * 1_500_000),
    ):
        yield f"text: {name}", {"messages": [{"role": "user", "content": text}]}
    yield "members", {"messages": [_ASK], **{f"m{n}": 1 for n in many}}
    yield "numbers", {"messages": [_ASK], "n": [0] * 1_500_000}
    yield "lists", {"messages": [_ASK], "n": [[]] * 1_000_000}


def _counts() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Many small values in one request, by the path that it goes to."""
    many = {f"k{n}": "v" for n in range(90_000)}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    source = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    texts = [{"type": "text", "text": "a"}] * 30_000
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "t", "arguments": "{}"}}
        for n in range(15_000)
    ]
    chats: tuple[tuple[str, dict[str, Any]], ...] = (
        ("images", {"messages": [{"role": "user", "content": [image] * 20_000}]}),
        ("images taken", {"messages": [{"role": "user", "content": [image] * 9_000}]}),
        ("images each", {"messages": [{"role": "user", "content": [image]}] * 14_000}),
        ("parts", {"messages": [{"role": "user", "content": texts}]}),
        ("roles", {"messages": [_ASK] * 30_000}),
        ("calls", {"messages": [_ASK, {"role": "assistant", "tool_calls": calls}]}),
        ("bias", {"messages": [_ASK], "logit_bias": dict.fromkeys(many, 1)}),
        ("stops", {"messages": [_ASK], "stop": ["x"] * 90_000}),
        ("metadata", {"messages": [_ASK], "metadata": many}),
        ("tools", {"messages": [_ASK], "tools": [_tool({}, f"t{n}") for n in range(12_000)]}),
        ("allowed", {"messages": [_ASK], "tool_choice": {"type": "allowed_tools", "tools": [{}] * 90_000}}),
    )
    for name, body in chats:
        yield name, "/v1/chat/completions", body
    for name, body in (
        (
            "images",
            {"messages": [{"role": "user", "content": [{"type": "image", "source": source}] * 16_000}]},
        ),
        ("metadata", {"messages": [_ASK], "metadata": many}),
        ("stops", {"messages": [_ASK], "stop_sequences": ["x"] * 90_000}),
        ("system", {"messages": [_ASK], "system": texts}),
    ):
        yield name, "/v1/messages", {"max_tokens": 5, **body}
    more: tuple[tuple[str, dict[str, Any]], ...] = (
        ("input", {"input": [{"role": "user", "content": "a"}] * 30_000}),
        ("metadata", {"input": "a", "metadata": many}),
        ("images", {"input": [{"role": "user", "content": [_RESPONSES_IMAGE] * 20_000}]}),
    )
    for name, body in more:
        yield name, "/v1/responses", body


_RESPONSES_IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}


def run(target: Target) -> None:
    """Each is refused, or sent on to a provider that is not there."""
    for name, body in _bodies():
        _send(target, name, "/v1/chat/completions", body)
    for name, path, body in _counts():
        _send(target, f"{path} {name}", path, body)


def _send(target: Target, name: str, path: str, body: dict[str, Any]) -> None:
    raw = json.dumps({"model": _MODEL, **body}).encode()
    head = ("content-type", "application/json"), ("content-length", str(len(raw)))
    with RawClient(target.server.address) as client:
        status = client.send(request("POST", path, *head), raw).answer().status
    assert status in (400, 413, 502), f"{name}: {status}"


ATTACK = Attack(
    "I24.5.1",
    "requests of many shapes, up to 4 MB",
    run,
    config=_config,
    gateway=True,
    env={"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"},
    steady=request("GET", "/healthz"),
    memory_mib=700,
    units=3_000,
)
