"""What Chat Completions takes: refuses with an ``AssertionError`` what the API would answer with a 400.

Compatible servers differ: ``chat_rows`` has what each of them takes and refuses.
"""

from __future__ import annotations

import re
from typing import Any

from . import common, strict
from .chat_rows import OPEN, ChatRules

KEYS = {
    "max_completion_tokens",
    "messages",
    "model",
    "parallel_tool_calls",
    "stop",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "web_search_options",
}
PARTS = {"text": {"text"}, "image_url": {"image_url"}, "input_audio": {"input_audio"}}


def check_schema(schema: Any) -> None:
    common.check_schema(schema)
    for node in common.every_schema(schema):
        assert "items" in node or not common.says(node, "array"), node
        assert "properties" in node or not common.says(node, "object"), node
        booleans = [k for k in common.SINGLES if isinstance(node.get(k), bool)]
        assert set(booleans) <= {"additionalProperties", "unevaluatedItems", "unevaluatedProperties"}


def check_request(body: Any, row: ChatRules = OPEN) -> None:
    common.check_wire(body)
    known = KEYS | row.more | row.efforts.keys() | ({"response_format"} if row.formats else set())
    assert body.keys() <= known - row.refused and isinstance(body["model"], str)
    _check_model(body)
    _check_effort(body, row)
    _check_format(body, row)
    tools = body.get("tools", [])
    assert "tools" not in body or 1 <= len(tools) <= 128
    _check_choice(body, [tool["function"]["name"] for tool in tools], row)
    assert body.get("stream", True) is True and body.get("web_search_options", {}) == {}
    usage_asked = "stream" in body and "stream_options" not in row.refused
    assert body.get("stream_options") == ({"include_usage": True} if usage_asked else None)
    common.check_names([tool["function"]["name"] for tool in tools])
    for tool in tools:
        assert tool.keys() == {"type", "function"} and tool["type"] == "function"
        function = tool["function"]
        assert function.keys() == {"name", "description", "parameters", "strict"}
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", function["name"])
        check_schema(function["parameters"])
        if function["strict"]:
            strict.check_openai(function["parameters"])
    _check_messages(body["messages"], row)


def _check_model(body: Any) -> None:
    """What OpenAI's models refuse, wherever they are asked."""
    model = body["model"].removeprefix("openai/")
    searches = "-search-preview" in model or model.startswith("gpt-5-search-api")
    assert searches or "web_search_options" not in body, "Unknown parameter: 'web_search_options'"
    thinks = re.match(r"gpt-([5-9]|\d\d)|o\d", model)
    assert not thinks or "temperature" not in body, "Unsupported value: 'temperature'"
    assert not thinks or "stop" not in body, "Unsupported parameter: 'stop'"
    assert not re.match(r"gpt-4|grok-4(-|$)", model) or "reasoning_effort" not in body


def _check_effort(body: Any, row: ChatRules) -> None:
    given = {
        "reasoning_effort": body.get("reasoning_effort"),
        "reasoning": body.get("reasoning", {}).get("effort"),
        "thinking": body.get("thinking", {}).get("type"),
    }
    for key, value in given.items():
        assert key not in body or value in row.efforts[key], (key, value)


def _check_format(body: Any, row: ChatRules) -> None:
    if "response_format" not in body:
        return
    given = body["response_format"]
    assert given["type"] in (row.formats_with_tools if "tools" in body else row.formats)
    if given["type"] == "json_object":
        assert given.keys() == {"type"} and "json" in str(body["messages"]).lower()
        return
    inner = given["json_schema"]
    assert given.keys() == {"type", "json_schema"} and inner.keys() == {"name", "schema", "strict"}
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", inner["name"]) and inner["schema"]["type"] == "object"
    if inner["strict"]:
        strict.check_openai(inner["schema"])


def _check_choice(body: Any, names: list[str], row: ChatRules) -> None:
    if not names:
        assert not {"parallel_tool_calls", "tool_choice"} & body.keys()
    assert isinstance(body.get("parallel_tool_calls", True), bool)
    choice = body.get("tool_choice", "auto")
    assert (choice if isinstance(choice, str) else "named") in row.choices
    if not isinstance(choice, str):
        assert choice == {"type": "function", "function": {"name": choice["function"]["name"]}}
        assert choice["function"]["name"] in names
    else:
        assert choice in ("auto", "none", "required")


def _check_content(content: Any) -> None:
    """A user's content: a string, or parts. Images as data URLs, sound as WAV or MP3."""
    for part in [] if isinstance(content, str) else content:
        assert part.keys() == {"type"} | PARTS[part["type"]]
        if part["type"] == "text":
            assert part["text"]
        elif part["type"] == "image_url":
            url = r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+"
            assert part["image_url"].keys() == {"url"} and re.fullmatch(url, part["image_url"]["url"])
        else:
            assert part["input_audio"].keys() == {"data", "format"}
            assert part["input_audio"]["format"] in ("mp3", "wav")


def _check_messages(messages: list[Any], row: ChatRules) -> None:
    waiting: list[str] = []
    seen: set[str] = set()
    before = ""
    for place, message in enumerate(messages):
        role, before = message["role"], f"{before} {message['role']}"
        if role == "tool":
            assert message.keys() == {"role", "tool_call_id", "content"} and message["content"]
            assert message["tool_call_id"] == waiting.pop(0), "results answer their calls, in order"
            assert isinstance(message["content"], str) or row.media_in_results
            _check_content(message["content"])
            continue
        assert not waiting, "every call is answered before anything else"
        assert role != "system" or place == 0
        if role == "assistant":
            waiting += _check_assistant(message, row, seen)
        else:
            assert role in ("system", "user") and message["content"]
            assert row.user_after_tool or not before.endswith("tool user"), "Unexpected role after tool"
            _check_content(message["content"])
    assert not waiting, "every call is answered"


def _check_assistant(message: Any, row: ChatRules, seen: set[str]) -> list[str]:
    """The ids of its calls."""
    assert message.keys() <= {"role", "content", "tool_calls"} | row.fields
    assert message["content"] or message["tool_calls"]
    assert not row.demanded or message.get(row.demanded), f"{row.demanded} must be passed back"
    assert isinstance(message["content"], str | None) or row.thinks_in_content
    ids: list[str] = []
    for call in message.get("tool_calls", []):
        assert call.keys() <= {"id", "type", "function"} | row.call_fields
        assert re.fullmatch(row.ids, call["id"]) and call["id"] not in seen
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["function"]["name"])
        assert isinstance(common.json.loads(call["function"]["arguments"]), dict)
        seen.add(call["id"])
        ids.append(call["id"])
    return ids
