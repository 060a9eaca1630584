"""What a model writes as arguments, and what must reach the tool."""

from __future__ import annotations

from typing import Any

from ._model import Call, Scenario, Thought, Turn, asked, called
from ._tool import Tool, text
from .tools import CITY

_BAD = "invalid_parameters"
_OSLO = {"city": "Oslo"}


def _taking(schema: dict[str, Any], **about: Any) -> Tool:
    return Tool("take", {"type": "object", **schema}, text("taken"), **about)


def _taken(schema: dict[str, Any], arguments: dict[str, Any], means: Any = None, **about: Any) -> Scenario:
    return called(Call("take", arguments, means=means), _taking(schema, **about), sees=("taken",))


def _refused(arguments: Any, *sees: str) -> Scenario:
    """Arguments that must not reach the tool; told why, the model writes better ones."""
    return asked(
        Turn(Call("weather", arguments, gets=_BAD)),
        Turn(Call("weather", _OSLO), sees=("Invalid parameters", *sees)),
        Turn("Now.", sees=("7 °C",)),
    )


_PLACE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "at": {"type": "array", "items": {"type": "number"}}},
    "required": ["name"],
}
_TREE = {
    "properties": {"root": {"$ref": "#/$defs/node"}},
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        }
    },
}

SCENARIOS: dict[str, Scenario] = {
    "empty arguments": called(Call("time", {}), sees=("It is noon",)),
    "an empty text for arguments": called(Call("time", "", means={}), sees=("It is noon",)),
    "unicode": _taken(
        {"properties": {"s": {"type": "string"}}}, {"s": 'Å "quoted" \\ 日本語 🏔️\u200d\n\t\u0001 end'}
    ),
    "huge integers": _taken({"properties": {"n": {"type": "integer"}}}, {"n": 2**53}),
    "integers beyond doubles": _taken({"properties": {"n": {"type": "integer"}}}, {"n": 2**62 + 1}),
    "whole floats where integers are meant": _taken(
        {"properties": {"n": {"type": "integer"}, "of": {"type": "array", "items": {"type": "integer"}}}},
        {"n": 3.0, "of": [1.0, 2.0]},
        means={"n": 3, "of": [1, 2]},
    ),
    "nested objects": _taken(
        {"properties": {"places": {"type": "array", "items": _PLACE}}},
        {"places": [{"name": "Oslo", "at": [59.9, 10.75]}, {"name": "Bodø"}]},
    ),
    "a recursive schema": _taken(
        _TREE, {"root": {"value": 1, "children": [{"value": 2, "children": []}, {"value": 3}]}}
    ),
    "keys that providers refuse": _taken(
        {
            "properties": {
                "$filter": {"type": "string"},
                "content type": {"type": "string"},
                "år": {"type": "object", "properties": {"x/y~z": {"type": "integer"}}},
                "k" * 80: {"type": "boolean"},
            },
            "required": ["$filter"],
        },
        {"$filter": "a eq 1", "content type": "text", "år": {"x/y~z": 7}, "k" * 80: True},
    ),
    "a choice at the root": called(
        Call("take", {"city": "Oslo"}),
        Tool(
            "take",
            {
                "type": "object",
                "properties": {"city": {"type": "string"}, "at": {"type": "number"}},
                "anyOf": [{"required": ["city"]}, {"required": ["at"]}],
            },
            text("taken"),
        ),
        sees=("taken",),
    ),
    "a choice within": _taken(
        {"properties": {"v": {"oneOf": [{"type": "string"}, {"type": "object", "properties": {}}]}}},
        {"v": {"a": 1}},
    ),
    "enums of other than strings": _taken(
        {"properties": {"n": {"enum": [1, 2, None, True]}}, "required": ["n"]}, {"n": 2}
    ),
    "a schema of an old draft": _taken(
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": True}},
            "definitions": {"unused": {"type": "string"}},
        },
        {"n": 0.5},
    ),
    "a tool with nothing said of its arguments": called(
        Call("take", {"whatever": [1, None, {"x": "y"}]}), Tool("take", {}, text("taken")), sees=("taken",)
    ),
    "a strict tool": called(
        Call("take", {"city": "Oslo"}),
        Tool(
            "take",
            {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
                "additionalProperties": False,
            },
            text("taken"),
            strict=True,
        ),
        sees=("taken",),
    ),
    "a tool that no provider takes": called(
        Call("take", {}),
        _taking({}),
        Tool("broken", {"type": "object", "properties": {"a": {"$ref": "https://x.test/s.json"}}}),
        sees=("taken",),
        notice="the tool 'broken' of s is left out",
    ),
    "malformed arguments": _refused('{"city": "Os'),
    "thoughts before malformed arguments": asked(
        Turn(Thought("Hm."), "I look.", Call("weather", '{"city": "Os', gets=_BAD)),
        Turn(Thought("Again."), Call("weather", _OSLO), sees=("Invalid parameters",)),
        Turn("Now.", sees=("7 °C",)),
    ),
    "thoughts before an empty text for arguments": asked(
        Turn(Thought("Hm."), Call("time", "", means={})), Turn("Noon.", sees=("It is noon",))
    ),
    "malformed arguments for a tool that needs none": asked(
        Turn(Call("time", '{"zone": "CE', gets=_BAD)), Turn("Well.", sees=("Invalid parameters",))
    ),
    "arguments that are a list": _refused("[1]", "array"),
    "arguments that are a number": _refused("7"),
    "arguments that are words": _refused("Oslo, please"),
    "double-encoded arguments": called(
        Call("weather", '"{\\"city\\": \\"Oslo\\"}"', means=_OSLO), sees=("7 °C",)
    ),
    "a missing argument": _refused({}, "missing 'city'"),
    "an argument of the wrong type": _refused({"city": 7}, "'city' must be a string"),
    "an argument that is not known": asked(
        Turn(Call("take", {"town": "Oslo"}, gets=_BAD)),
        Turn("I see.", sees=("unknown parameter 'town'",)),
        tools=(_taking({"properties": CITY["properties"], "additionalProperties": False}),),
    ),
    "bad arguments beside good ones": asked(
        Turn(Call("weather", {"city": 7}, gets=_BAD), Call("weather", _OSLO)),
        Turn("One of them.", sees=("must be a string", "7 °C")),
    ),
    "long arguments": _taken({"properties": {"s": {"type": "string"}}}, {"s": "På tur, aldri sur. " * 60}),
}
