"""What Bedrock's Converse takes: botocore's own service model, and Claude's rules behind it."""

from __future__ import annotations

import base64
import re
from functools import cache
from typing import Any

from . import common


def check_schema(schema: Any) -> None:
    common.check_schema(schema)
    for node in common.every_schema(schema):
        assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", key) for key in node.get("properties", {}))


BESIDE = {
    "claude": {"text", "image"},
    "nova": {"text", "image", "document"},
    "qwen": {"text"},
    "openai.gpt-5": {"text", "image"},
}
"""What may share a message with results, by a part of the model's id; nothing for others."""
INSIDE = {"claude": {"image", "document"}, "nova": {"image"}, "llama4": {"image"}}
"""The media that may stand in a result."""
SEES = ("claude", "nova-pro", "nova-lite", "nova-2", "llama4", "pixtral", "openai.gpt-5", "application-")
FORCED = ("claude", "nova")
OWN_FIELDS = {
    "claude": {"anthropic_beta", "thinking", "tool_choice"},
    "nova-2": {"reasoningConfig"},
    "gpt-oss": {"reasoning_effort"},
}
CACHED: tuple[tuple[str, set[str]], ...] = (
    ("claude-3-haiku", set()),
    ("claude-3-sonnet", set()),
    ("claude", {"system", "tools", "messages"}),
    ("nova", {"system"}),
)


def check_request(body: Any, model: str = "us.anthropic.claude-sonnet-4-6") -> None:
    """``body`` for ``model``. The id of a profile of one's own may stand for any: it is held to all rules."""
    common.check_wire(body)
    assert _model_errors({"modelId": "m", **_with_bytes(body)}) == ""
    _check_family(body, model)
    tools = [tool["toolSpec"] for tool in body.get("toolConfig", {}).get("tools", []) if "toolSpec" in tool]
    common.check_names([tool["name"] for tool in tools])
    for tool in tools:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["name"])
        check_schema(tool["inputSchema"]["json"])
    _check_messages(body["messages"], bool(tools))


def _check_family(body: Any, model: str) -> None:
    beside = next((taken for name, taken in BESIDE.items() if name in model), set[str]())
    inside = next((taken for name, taken in INSIDE.items() if name in model), set[str]())
    choice = body.get("toolConfig", {}).get("toolChoice", {})
    assert "auto" in choice or not choice or any(name in model for name in FORCED), (
        f"This model doesn't support the toolConfig.toolChoice.{next(iter(choice))} field"
    )
    own = body.get("additionalModelRequestFields", {})
    _check_effort(own, body, model)
    points = {
        "system": body.get("system", []),
        "tools": body.get("toolConfig", {}).get("tools", []),
        "messages": [block for message in body["messages"] for block in message["content"]],
    }
    cached = {place for place, blocks in points.items() if any("cachePoint" in block for block in blocks)}
    allowed = next((places for name, places in CACHED if name in model), set[str]())
    assert cached <= allowed, f"prompt caching is not supported for {cached - allowed}"
    assert "tool_choice" not in own or ("claude" in model and not choice), "its own field, or Converse's"
    for message in body["messages"]:
        kinds = {next(iter(block)) for block in message["content"]}
        if "toolResult" in kinds and message["role"] == "user":
            extra = kinds - beside - {"toolResult", "cachePoint"}
            assert not extra, f"beside toolResult there may be no {extra}"
        assert "image" not in kinds or any(name in model for name in SEES), "image field for user messages"
        signed = "claude" in model or "application-" in model
        assert "reasoningContent" not in kinds or signed, "no thoughts in messages"
        for result in (block["toolResult"] for block in message["content"] if "toolResult" in block):
            held = {next(iter(part)) for part in result["content"]}
            assert held & {"image", "document"} <= inside, "image field for user messages"
            assert "status" not in result or "claude" in model or "nova" in model, "status is not supported"
            if "mistral" in model:
                assert held == {"json"}, "results are json"
            elif not ("claude" in model or "nova" in model):
                assert held - inside <= {"text"}, "results are text"


def _check_effort(own: Any, body: Any, model: str) -> None:
    known = next((keys for name, keys in OWN_FIELDS.items() if name in model), set[str]())
    assert own.keys() <= known, f"extraneous keys {own.keys() - known} are not permitted"
    assert "outputConfig" not in body or "claude" in model, "outputConfig is not supported"
    bound = "block_binding" in own.get("thinking", {})
    assert bound == ("anthropic_beta" in own), (
        "block_binding: Extra inputs are not permitted without its beta"
    )
    budget = own.get("thinking", {}).get("budget_tokens")
    if budget is not None:
        assert budget >= 1024 and "temperature" not in body.get("inferenceConfig", {})
        assert budget < body.get("inferenceConfig", {}).get("maxTokens", 64_000)
    highest = own.get("reasoningConfig", {}).get("maxReasoningEffort") == "high"
    assert not highest or "inferenceConfig" not in body, "maxTokens and temperature with the highest effort"
    demanded = not {"any", "tool"}.isdisjoint(body.get("toolConfig", {}).get("toolChoice", {}))
    assert not ("thinking" in own and demanded), (
        "Thinking may not be enabled when tool_choice forces tool use"
    )


def _check_messages(messages: list[Any], with_tools: bool) -> None:
    waiting: list[str] = []
    seen: set[str] = set()
    for place, message in enumerate(messages):
        assert message["role"] == ("assistant" if place % 2 else "user"), "they alternate, the user first"
        kinds = [next(iter(block)) for block in message["content"]]
        assert with_tools or not {"toolUse", "toolResult"} & set(kinds), "tool blocks need a toolConfig"
        given = message["content"] if message["role"] == "user" else []  # the provider's own are the model's
        results = [block["toolResult"] for block in given if "toolResult" in block]
        assert [result["toolUseId"] for result in results] == waiting
        assert kinds[: len(results)] == ["toolResult"] * len(results), "results come first"
        for result in results:
            assert result["content"] and all(isinstance(c.get("json", {}), dict) for c in result["content"])
        calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        waiting = [call["toolUseId"] for call in calls if call.get("type") != "server_tool_use"]
        assert not seen & set(waiting) and len(set(waiting)) == len(waiting)
        assert all(re.fullmatch(r"[a-zA-Z0-9_.:-]{1,64}", call_id) for call_id in waiting)
        seen |= set(waiting)
        assert "document" not in str(kinds) or "text" in kinds
        for text in _texts(message["content"]):
            assert text.strip(), "blank text is refused"
    assert not waiting, "every call is answered"


def _texts(blocks: list[Any]) -> list[str]:
    nested = [
        text for block in blocks if "toolResult" in block for text in _texts(block["toolResult"]["content"])
    ]
    return nested + [block["text"] for block in blocks if "text" in block]


def _with_bytes(value: Any) -> Any:
    """The REST API takes base64 where the SDK takes bytes."""
    if isinstance(value, dict):
        return {
            key: base64.b64decode(inner, validate=True)
            if key in ("bytes", "redactedContent") and isinstance(inner, str)
            else _with_bytes(inner)
            for key, inner in value.items()
        }
    return [_with_bytes(entry) for entry in value] if isinstance(value, list) else value


def check_count(body: Any) -> None:
    """What ``CountTokens`` takes."""
    assert _model_errors({"modelId": "m", **_with_bytes(body)}, "CountTokens") == ""


@cache
def _input_of(operation: str) -> Any:
    from botocore.session import Session

    return Session().get_service_model("bedrock-runtime").operation_model(operation).input_shape


def _model_errors(parameters: dict[str, Any], operation: str = "Converse") -> str:
    from botocore.validate import ParamValidator

    return str(ParamValidator().validate(parameters, _input_of(operation)).generate_report())
