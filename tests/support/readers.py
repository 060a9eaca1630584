"""A request's conversation, read back from its wire: what the model was told, in no provider's words.

Each reader gives ``("user", text)``, ``("assistant", answer)`` and ``("result", failed, text)`` in order; an
answer is the turn as the body of a whole answer, for the format's own ``parse_reply``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

Told = tuple[Any, ...]
_MARK = re.compile(r"\[tool error\]\s*")
_RESULT = re.compile(r'<tool_result name="[^"]*">\n(.*?)\n</tool_result>', re.DOTALL)


def read_request(name: str, body: Any) -> list[Told]:
    """The conversation in ``body``, a request in the format ``name``."""
    return list(_READERS[name](body))


def _marked(text: str) -> Told:
    """A result where the wire has no flag for errors: they are marked in the text."""
    return ("result", bool(_MARK.match(text)), _MARK.sub("", text, count=1))


def _texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if "text" in part)


def _chat(body: Any) -> Iterator[Told]:
    for message in body["messages"]:
        if message["role"] == "user":
            yield "user", _texts(message["content"])
        elif message["role"] == "tool":
            yield _marked(message["content"])
        elif message["role"] == "assistant":
            yield "assistant", {"choices": [{"message": message, "finish_reason": "stop"}]}


def _prompt(body: Any) -> Iterator[Told]:
    for told in _chat(body):
        results = _RESULT.findall(told[1]) if told[0] == "user" else []
        yield from map(_marked, results) if results else [told]


def _ollama(body: Any) -> Iterator[Told]:
    for message in body["messages"]:
        if message["role"] == "tool":
            yield _marked(message["content"])
        elif message["role"] == "assistant":
            yield "assistant", {"message": message, "done": True, "done_reason": "stop"}
        elif message["role"] == "user":
            yield "user", message["content"]


def _responses(body: Any) -> Iterator[Told]:
    said: list[Any] = []
    for item in [*body["input"], {"role": "end"}]:
        if item.get("role") == "assistant":
            text = {"type": "output_text", "text": item["content"]}
            said.append({"type": "message", "role": "assistant", "content": [text]})
        elif item.get("type") == "function_call":
            said.append(item)
        else:
            if said:
                yield "assistant", {"object": "response", "status": "completed", "output": said}
            said = []
            if item.get("type") == "function_call_output":
                yield _marked(_texts(item["output"]))
            elif item["role"] == "user":
                yield "user", _texts(item["content"])


def _claude(body: Any) -> Iterator[Told]:
    for message in body["messages"]:
        if message["role"] == "assistant":
            yield "assistant", {"content": message["content"], "stop_reason": "end_turn"}
            continue
        results = [block for block in message["content"] if block["type"] == "tool_result"]
        for result in results:
            yield "result", result.get("is_error", False), _texts(result["content"])
        if text := _texts([block for block in message["content"] if block["type"] == "text"]):
            yield "user", text


def _converse(body: Any) -> Iterator[Told]:
    for message in body["messages"]:
        if message["role"] == "assistant":
            yield "assistant", {"output": {"message": message}, "stopReason": "end_turn"}
            continue
        for block in message["content"]:
            if "toolResult" in block:
                result = block["toolResult"]
                failed = result["status"] == "error"
                yield "result", failed, _MARK.sub("", _texts(result["content"]), count=1)
        if text := _texts(message["content"]):
            yield "user", text


def _gemini(body: Any) -> Iterator[Told]:
    for content in body["contents"]:
        if content["role"] == "model":
            yield "assistant", {"candidates": [{"content": content, "finishReason": "STOP"}]}
            continue
        for part in content["parts"]:
            if "functionResponse" in part:
                response = part["functionResponse"]["response"]
                text = response.get("error", response.get("output"))
                yield "result", "error" in response, text if isinstance(text, str) else json.dumps(text)
        if text := _texts(content["parts"]):
            yield "user", text


_READERS: dict[str, Callable[[Any], Iterator[Told]]] = {
    "anthropic": _claude,
    "bedrock": _converse,
    "bedrock-anthropic": _claude,
    "gemini": _gemini,
    "ollama": _ollama,
    "openai": _chat,
    "openai-responses": _responses,
    "prompt": _prompt,
}
