"""What the Gemini Developer API takes at ``v1beta``: the documented keywords and the order of turns."""

from __future__ import annotations

import re
from typing import Any

from . import common

KEYWORDS = {
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
}
PARTS = {
    "codeExecutionResult",
    "executableCode",
    "functionCall",
    "functionResponse",
    "inlineData",
    "text",
    "thought",
    "thoughtSignature",
    "toolCall",
    "toolResponse",
}
OWN = {
    "codeExecution": set[str](),
    "googleSearch": {"searchTypes", "timeRangeFilter"},
    "urlContext": set[str](),
}
"""Google's own tools, with the settings that the Developer API takes."""
LEVELS = {
    "gemini-3-pro": {"LOW", "HIGH"},
    "gemini-3.1-pro": {"LOW", "MEDIUM", "HIGH"},
    "gemini-3-flash": {"MINIMAL", "LOW", "MEDIUM", "HIGH"},
}
BUDGETS = {"gemini-2.5-pro": (128, 32_768), "gemini-2.5-flash": (0, 24_576)}
"""What a model takes by the beginning of its name; others take no thinkingConfig."""
FILES = {"application/pdf", "image/jpeg", "image/png", "image/webp"}
SOUNDS = {"audio/aac", "audio/aiff", "audio/flac", "audio/mp3", "audio/mpeg", "audio/ogg", "audio/wav"}


def check_schema(schema: Any) -> None:
    common.check_schema(schema)
    for node in common.every_schema(schema):
        assert node.keys() <= KEYWORDS, node.keys() - KEYWORDS
        assert "$ref" not in node or all(key.startswith("$") for key in node), "a reference stands alone"
        for value in node.get("enum", []):
            assert isinstance(value, str | int | float) and not isinstance(value, bool)
        for key in node.get("properties", {}):
            assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", key), key
        for inner in common.inside({**node, "additionalProperties": {}}):
            assert isinstance(inner, dict)
    assert not _recursive(schema)


def _recursive(schema: dict[str, Any]) -> bool:
    named = schema.get("$defs", {})
    graph = {
        name: {n["$ref"].rsplit("/", 1)[-1] for n in common.every_schema(inner) if "$ref" in n}
        for name, inner in named.items()
    }
    done: set[str] = set()
    while ready := {name for name, needs in graph.items() if needs <= done} - done:
        done |= ready
    return done != graph.keys()


def check_request(body: Any, model: str = "gemini-3-pro") -> None:
    common.check_wire(body)
    _check_config(body.get("generationConfig", {}), body, model)
    assert body.keys() <= {
        "contents",
        "continuationToken",
        "generationConfig",
        "systemInstruction",
        "toolConfig",
        "tools",
    }
    assert body.get("continuationToken", "t"), "a token goes on with something"
    declared = [entry for tool in body.get("tools", []) for entry in tool.get("functionDeclarations", [])]
    builtins = [tool for tool in body.get("tools", []) if "functionDeclarations" not in tool]
    assert "tools" not in body or (declared or builtins)
    assert len(declared) <= 512
    for tool in builtins:
        _check_own(tool)
    assert {"urlContext": {}} not in builtins or "gemini-2.0" not in model, "Browse tool is not supported"
    assert not (declared and builtins) or "gemini-2" not in model, "Built-in tools and functions: one of them"
    config = dict(body.get("toolConfig", {}))
    searches = any("googleSearch" in tool for tool in builtins)
    _check_place(config.pop("retrievalConfig", None), searches=searches)
    _check_choice(config or None, [entry["name"] for entry in declared], mixed=bool(builtins))
    common.check_names([entry["name"] for entry in declared])
    for entry in declared:
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}", entry["name"]) and entry["description"]
        check_schema(entry["parametersJsonSchema"])
    _check_contents(body["contents"])
    _check_parts(body["contents"])


def _check_config(config: Any, body: Any, model: str) -> None:
    known = {
        "maxOutputTokens",
        "responseJsonSchema",
        "responseMimeType",
        "stopSequences",
        "temperature",
        "thinkingConfig",
    }
    assert config.keys() <= known, config.keys() - known
    thinking = config.get("thinkingConfig", {})
    level, budget = thinking.get("thinkingLevel"), thinking.get("thinkingBudget")
    assert level is None or level in next(v for k, v in LEVELS.items() if model.startswith(k))
    least, most = next((v for k, v in BUDGETS.items() if model.startswith(k)), (1, 0))
    assert budget is None or least <= budget <= most, f"The thinking budget {budget} is invalid"
    assert (level is None) + (budget is None) == (1 if thinking else 2)
    assert ("responseJsonSchema" in config) == (config.get("responseMimeType") == "application/json")
    if "responseJsonSchema" in config:
        check_schema(config["responseJsonSchema"])
        assert "tools" not in body or "gemini-2" not in model, "Function calling with a JSON mime type"


def _check_own(tool: Any) -> None:
    assert len(tool) == 1, "each in a tool of its own"
    ((kind, settings),) = tool.items()
    assert settings.keys() <= OWN[kind], f"Unknown name {settings.keys() - OWN[kind]}"
    times = settings.get("timeRangeFilter")
    assert times is None or times.keys() == {"startTime", "endTime"}
    assert all(re.fullmatch(r"\d+-\d+-\d+T\d+:\d+:\d+(\.\d+)?Z", when) for when in (times or {}).values())


def _check_place(config: Any, *, searches: bool) -> None:
    if config is None:
        return
    assert searches, "where the user is concerns a search"
    assert config and config.keys() <= {"languageCode", "latLng"}
    assert config.get("latLng", {"latitude": 0, "longitude": 0}).keys() == {"latitude", "longitude"}


def _check_choice(config: Any, names: list[str], *, mixed: bool) -> None:
    assert (config is not None) == bool(names), "a choice of functions, where there are any"
    if config is None:
        return
    assert config.get("includeServerSideToolInvocations", False) is mixed, "said for a mix, and only then"
    choice = config["functionCallingConfig"]
    assert choice["mode"] in ("VALIDATED", "ANY", "NONE", *(() if mixed else ("AUTO",)))
    allowed = choice.get("allowedFunctionNames", [])
    assert not allowed or (choice["mode"] == "ANY" and set(allowed) <= set(names))


def _check_parts(contents: list[Any]) -> None:
    for content in contents:
        for part in content["parts"]:
            assert part.keys() <= PARTS, part.keys() - PARTS
            assert part.keys() - {"text", "thought"} or part["text"], "a part holds something"
            response = part.get("functionResponse", {})
            _check_media([part], FILES | SOUNDS)
            _check_media(response.get("parts", []), FILES | {"text/plain"})
            assert all(abs(number) <= 2**53 for number in _integers(response.get("response"))), "doubles"
            assert not _refers(response.get("response")), "a $ref is taken for a reference to a part"


def _check_media(parts: list[Any], taken: set[str]) -> None:
    for data in (part["inlineData"] for part in parts if "inlineData" in part):
        assert data.keys() == {"mimeType", "data"}
        assert data["mimeType"] in taken, f"Unsupported MIME type: {data['mimeType']}"


def _refers(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (isinstance(value, dict) and "$ref" in value) or any(_refers(each) for each in inner)


def _integers(value: Any) -> list[int]:
    if isinstance(value, int):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [number for each in inner for number in _integers(each)]


def _check_contents(contents: list[Any]) -> None:
    waiting: list[tuple[Any, str]] = []
    for place, content in enumerate(contents):
        assert content["parts"] and content["role"] in ("user", "model")
        responses = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        assert [(each.get("id"), each["name"]) for each in responses] == waiting, "all results, one content"
        assert not responses or len(responses) == len(content["parts"]), "nothing between the results"
        assert all(isinstance(each["response"], dict) for each in responses)
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        assert not calls or (content["role"] == "model" and contents[place - 1]["role"] == "user" and place)
        waiting = [(each.get("id"), each["name"]) for each in calls]
    assert not waiting, "every call is answered"
