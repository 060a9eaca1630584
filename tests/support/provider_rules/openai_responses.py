"""What Responses takes: refuses with an ``AssertionError`` what the API would answer with a 400."""

from __future__ import annotations

import re
from typing import Any

from . import common
from .openai import check_schema

KEYS = {
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "model",
    "parallel_tool_calls",
    "prompt_cache_key",
    "reasoning",
    "store",
    "stream",
    "temperature",
    "text",
    "tool_choice",
    "tools",
}
CONTENT = {
    "input_text": {"type", "text"},
    "input_image": {"type", "image_url", "detail"},
    "input_file": {"type", "filename", "file_data"},
}
MAX_CHARACTERS = 10_485_760
MAX_URL = 20_971_520


def check_request(body: Any) -> None:
    common.check_wire(body)
    assert body.keys() <= KEYS and isinstance(body["model"], str)
    assert body["store"] is False, "nothing is kept at the provider"
    assert body.get("include", ["reasoning.encrypted_content"]) == ["reasoning.encrypted_content"]
    assert body.get("max_output_tokens", 16) >= 16
    assert body.get("stream", True) is True
    assert "instructions" not in body or body["instructions"].strip()
    _check_settings(body)
    functions = _check_tools(body)
    _check_choice(body, functions)
    _check_items(body["input"])


def _check_settings(body: Any) -> None:
    thinks = re.match(r"gpt-[5-9]|o\d", body["model"]) and "-chat" not in body["model"]
    assert not thinks or "temperature" not in body, "Unsupported parameter: 'temperature'"
    reasoning = body.get("reasoning", {"effort": "low"})
    assert reasoning.keys() <= {"effort", "summary"} and reasoning.get("summary", "auto") == "auto"
    assert reasoning["effort"] in ("none", "minimal", "low", "medium", "high")
    assert "reasoning" not in body or not body["model"].startswith("gpt-4"), "gpt-4 does not reason"
    if re.fullmatch(r"gpt-5(-mini|-nano)?", body["model"]):
        assert reasoning["effort"] != "none", "Unsupported value: 'none'"
    else:
        assert reasoning["effort"] != "minimal"
    assert 1 <= len(body.get("prompt_cache_key", "x")) <= 64
    if "text" in body:
        assert body["text"].keys() == {"format"}
        shape = body["text"]["format"]
        assert shape.keys() == {"type", "name", "schema", "strict"} and shape["type"] == "json_schema"
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", shape["name"])
        check_schema(shape["schema"])
        if shape["strict"]:
            _check_strict(shape["schema"])


def _check_builtin(tool: Any) -> None:
    if tool["type"] == "code_interpreter":
        assert tool == {"type": "code_interpreter", "container": {"type": "auto"}}
        return
    assert tool["type"] == "web_search", f"unknown tool {tool}"
    assert tool.keys() <= {"type", "filters", "user_location"}
    if "filters" in tool:
        assert tool["filters"].keys() == {"allowed_domains"} and tool["filters"]["allowed_domains"]
    if "user_location" in tool:
        place = tool["user_location"]
        assert place["type"] == "approximate"
        assert place.keys() <= {"type", "city", "country", "region", "timezone"}


def _check_tools(body: Any) -> list[str]:
    tools = body.get("tools", [])
    assert "tools" not in body or 1 <= len(tools) <= 128
    functions = [tool for tool in tools if tool["type"] == "function"]
    deferred = _check_namespaces(body, [tool for tool in tools if tool["type"] == "namespace"])
    for tool in tools:
        if tool["type"] not in ("function", "namespace", "tool_search"):
            _check_builtin(tool)
    for tool in [*functions, *deferred]:
        assert tool.keys() - {"output_schema"} == {"type", "name", "description", "parameters", "strict"}
        assert isinstance(tool["strict"], bool), "left out, the API would try to be strict"
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool["name"])
        check_schema(tool["parameters"])
        if tool["strict"]:
            _check_strict(tool["parameters"])
        if "output_schema" in tool:
            check_schema(tool["output_schema"])
    common.check_names([tool["name"] for tool in [*functions, *deferred]])
    return [tool["name"] for tool in functions]


def _check_namespaces(body: Any, spaces: list[Any]) -> list[Any]:
    """The functions in them, without the word that defers them."""
    searches = [tool for tool in body.get("tools", []) if tool["type"] == "tool_search"]
    assert bool(spaces) == bool(searches), "namespaces are searched"
    assert searches in ([], [{"type": "tool_search"}])
    assert not spaces or re.match(r"gpt-(5\.[4-9]|6)", body["model"]), "no tool search before GPT-5.4"
    common.check_names([space["name"] for space in spaces])
    found: list[Any] = []
    for space in spaces:
        assert space.keys() == {"type", "name", "description", "tools"} and space["description"]
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", space["name"]) and 1 <= len(space["tools"]) <= 100
        for tool in space["tools"]:
            assert tool["defer_loading"] is True
            found.append({key: value for key, value in tool.items() if key != "defer_loading"})
    return found


def _check_strict(schema: Any) -> None:
    for node in common.every_schema(schema):
        if "properties" in node:
            assert node["additionalProperties"] is False and set(node["required"]) == set(node["properties"])
        assert not {"allOf", "oneOf", "not", "if", "then", "else", "patternProperties"} & node.keys()


def _check_choice(body: Any, functions: list[str]) -> None:
    assert "parallel_tool_calls" not in body or isinstance(body["parallel_tool_calls"], bool)
    if not body.get("tools"):
        assert not {"tool_choice", "parallel_tool_calls"} & body.keys()
    choice = body.get("tool_choice", "auto")
    if isinstance(choice, str):
        assert choice in ("auto", "none", "required")
    else:
        assert choice.keys() == {"type", "name"} and choice["type"] == "function"
        assert choice["name"] in functions


ITEMS = {
    "code_interpreter_call": {"id", "status", "container_id", "code", "outputs"},
    "function_call": {"id", "status", "call_id", "name", "arguments", "namespace"},
    "function_call_output": {"call_id", "output"},
    "message": {"id", "status", "role", "content", "phase"},
    "reasoning": {"id", "summary", "content", "encrypted_content"},
    "tool_search_call": {"id", "status", "call_id", "arguments", "execution"},
    "tool_search_output": {"id", "status", "call_id", "tools", "execution"},
    "web_search_call": {"id", "status", "action"},
}


def check_state(items: list[Any], answered: list[Any]) -> None:
    """What the API knows of its own ``answered`` bodies: reasoning and the item after it go together."""
    sent = [item.get("id") for item in items]
    for body in answered:
        output = body["output"]
        for item, following in zip(output, [*output[1:], None], strict=True):
            if item["type"] != "reasoning":
                continue
            if following is None:
                assert item["id"] not in sent, "reasoning without its required following item"
            elif following["id"] in sent:
                place = sent.index(following["id"])
                assert item["id"] in sent[:place], f"{following['id']} without its required reasoning item"
                assert sent[place - 1] == item["id"] and items[place - 1]["encrypted_content"]
            else:
                assert item["id"] not in sent, "reasoning without its required following item"


def _check_items(items: list[Any]) -> None:
    ids = [item["id"] for item in items if "id" in item]
    assert len(set(ids)) == len(ids), "duplicate item"
    for item in items:
        assert item.keys() - {"type"} <= ITEMS[item.get("type", "message")], f"unknown parameter in {item}"
        assert None not in item.values(), f"null in {item}"
        assert item.get("status") not in ("in_progress", "searching", "interpreting")
    waiting: list[str] = []
    seen: set[str] = set()
    led = False
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call_output":
            assert item.keys() == {"type", "call_id", "output"}
            assert item["call_id"] == waiting.pop(0), "results answer their calls, in order"
            _check_output(item["output"])
        elif kind == "function_call":
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", item["call_id"]) and item["call_id"] not in seen
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", item["name"])
            assert isinstance(item["arguments"], str)
            assert isinstance(common.json.loads(item["arguments"]), dict)
            seen.add(item["call_id"])
            waiting.append(item["call_id"])
        elif kind == "reasoning":
            assert item["id"] and isinstance(item["summary"], list)
            assert item.get("encrypted_content") or item.get("content"), "nothing is stored to refer to"
        elif kind == "web_search_call":
            assert item["id"] and item["action"]["type"] in ("search", "open_page", "find_in_page")
        elif kind == "message":
            assert item["role"] != "user" or not waiting, "every call is answered before anything else"
            _check_message(item)
        led = kind == "reasoning"
    assert not waiting, "every call is answered"
    assert not led, "reasoning is followed by what it led to"


def _check_message(item: Any) -> None:
    assert item["role"] in ("user", "assistant") and item["content"]
    if item["role"] == "assistant" and not isinstance(item["content"], str):
        assert item["id"] and all("annotations" in p for p in item["content"] if p["type"] == "output_text")
    if item["role"] == "user" and not isinstance(item["content"], str):
        _check_content(item["content"])
        assert all(part.get("detail") for part in item["content"] if part["type"] == "input_image")


def _check_output(output: Any) -> None:
    assert output
    if isinstance(output, str):
        assert len(output) <= MAX_CHARACTERS
    else:
        _check_content(output)


def _check_content(parts: list[Any]) -> None:
    for part in parts:
        assert part.keys() <= CONTENT[part["type"]]
        if part["type"] == "input_text":
            assert part["text"] and len(part["text"]) <= MAX_CHARACTERS
        elif part["type"] == "input_image":
            url = r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+"
            assert re.fullmatch(url, part["image_url"]) and len(part["image_url"]) <= MAX_URL
        else:
            assert part["filename"] and part["file_data"].startswith("data:application/pdf;base64,")
