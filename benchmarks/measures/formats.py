"""Wire formats: rendering many tools, and parsing a long stream. Pure functions, so in this process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from time import perf_counter

from toolspan_bridge.formats import format_names, get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Request, ToolSpec, User

from ..processes import ROOT

_PIECE_BYTES = 16_384


def tools(count: int) -> tuple[ToolSpec, ...]:
    """``count`` tools such as servers have: nested objects, enums, defaults, bounds; ten share a schema."""
    numbers = range(count)
    return tuple(
        ToolSpec("bench", f"tool_{each}", f"Does thing {each}.", _schema(each // 10)) for each in numbers
    )


def dumps_ms(count: int) -> float:
    """Milliseconds of ``json.dumps`` for the same tools as they are."""
    listed = [{"name": t.name, "description": t.description, "parameters": t.schema} for t in tools(count)]
    return _ms(lambda: json.dumps(listed))


def render_ms(name: str, count: int) -> tuple[float, float]:
    """Milliseconds of a request with ``count`` tools in the format ``name``: the first, and another one."""
    request = Request("gemini-3-pro", (User("hi"),), tools=tools(count))

    def render() -> None:
        get_format(name).render_request(request, NameTable.of(request.tools))

    return _ms(render), _ms(render)


def first_request_ms(count: int) -> float:
    """Milliseconds of the first request with ``count`` tools, in the format that takes longest.

    Each format is measured in a process of its own, which has rendered nothing before.
    """
    return max(_first_ms(name, count) for name in format_names())


def _first_ms(name: str, count: int) -> float:
    code = f"from benchmarks.measures.formats import render_ms; print(render_ms({name!r}, {count})[0])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout)


def loads_ms(size: int) -> float:
    """Milliseconds of ``json.loads`` for ``size`` bytes of stream events in one document."""
    event = {"id": "c1", "choices": [{"index": 0, "delta": {"content": "words"}, "finish_reason": None}]}
    text = json.dumps([event] * (size // len(json.dumps(event))))
    return _ms(lambda: json.loads(text))


def parse_ms(name: str, size: int) -> float:
    """Milliseconds to parse a streamed answer of at least ``size`` bytes in the format ``name``, five
    characters an event, in pieces of 16 KiB."""
    wire = import_module(f"tests.support.wires.{name.replace('-', '_')}")
    an_event = (len(b"".join(wire.frames("words" * 200))) - len(b"".join(wire.frames("words" * 100)))) / 100
    text = "words" * int(size / an_event + 1)
    stream = b"".join(wire.frames(text))
    pieces = [stream[start : start + _PIECE_BYTES] for start in range(0, len(stream), _PIECE_BYTES)]
    parser = get_format(name).parse_stream()

    def parse() -> None:
        for piece in pieces:
            parser.feed(piece)
        if parser.end().message.text != text:
            raise RuntimeError(f"{name} read another text")

    return _ms(parse) * size / len(stream)


def _ms(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return (perf_counter() - began) * 1000


def _schema(number: int) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where to look", "minLength": 1},
            "mode": {"type": "string", "enum": ["fast", "whole"], "default": "fast"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100 + number},
            "filter": {
                "type": "object",
                "properties": {"kinds": {"type": "array", "items": {"type": "string"}}},
                "additionalProperties": False,
            },
        },
        "required": ["path"],
        "additionalProperties": False,
    }
