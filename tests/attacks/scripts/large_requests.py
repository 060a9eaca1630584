"""Requests to the gateway whose reading, conversion or counting could grow faster than they do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def run(target: Target) -> None:
    """Each is refused, or sent on to a provider that is not there."""
    head = ("content-type", "application/json")
    for name, body in _bodies():
        raw = json.dumps({"model": _MODEL, **body}).encode()
        with RawClient(target.server.address) as client:
            lines = request("POST", "/v1/chat/completions", head, ("content-length", str(len(raw))))
            status = client.send(lines, raw).answer().status
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
