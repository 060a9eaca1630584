"""Requests held to the types that providers' own clients publish. Imported late: the clients are heavy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from tests.support.official_clients import (
    SENT_BESIDES,
    asked_of_mistral,
    asked_of_ollama,
    unkept,
)


@cache
def _openai(name: str) -> Any:
    from openai.types.chat import completion_create_params as chat
    from openai.types.responses import response_create_params as responses
    from pydantic import TypeAdapter

    streaming = "Streaming" if name.endswith("stream") else "NonStreaming"
    if name.startswith("chat"):
        return TypeAdapter(getattr(chat, f"CompletionCreateParams{streaming}"))
    return TypeAdapter(getattr(responses, f"ResponseCreateParams{streaming}"))


def check_openai(name: str, body: dict[str, Any]) -> None:
    """``body`` by the ``openai`` client, ``name`` being ``chat`` or ``responses``.

    Its types leave out what they do not know: so what they give back must be the whole body.
    """
    adapter = _openai(f"{name}-stream" if body.get("stream") else name)
    assert _read(adapter.validate_python(body)) == body


def check_openai_count(body: dict[str, Any]) -> None:
    """``body`` as a question of ``/responses/input_tokens`` by the ``openai`` client."""
    assert _read(_openai_count().validate_python(body)) == body


@cache
def _openai_count() -> Any:
    from openai.types.responses import input_token_count_params as counts
    from pydantic import TypeAdapter

    return TypeAdapter(counts.InputTokenCountParams)


def _read(value: Any) -> Any:
    """Everything in ``value``; its iterators check what they give only when it is taken."""
    if isinstance(value, dict):
        return {key: _read(inner) for key, inner in value.items()}
    if isinstance(value, list) or (isinstance(value, Iterator) and not isinstance(value, str)):
        return [_read(inner) for inner in value]
    return value


def check_gemini(body: dict[str, Any]) -> None:
    """``body`` by ``google-genai``, whose types refuse what they do not know."""
    from google.genai import types

    kinds: dict[str, Any] = {
        "contents": types.Content,
        "generationConfig": types.GenerationConfig,
        "systemInstruction": types.Content,
        "toolConfig": types.ToolConfig,
        "tools": types.Tool,
    }
    assert body.keys() <= kinds.keys()
    for key, value in body.items():
        for entry in value if isinstance(value, list) else [value]:
            kinds[key].model_validate_json(json.dumps(entry))


_OLLAMA_LACKS = re.compile(
    r"/messages/\*/(tool_call_id|tool_calls/\*/(id|function/index))"
    r"|/tools/\*/function/parameters/properties/.+/(anyOf|properties|required)"
)
"""What Ollama's server reads (``api/types.go``) and the models of ``ollama`` 0.6.3 leave out: ids of calls,
and what is in the schema of a parameter. Empty texts are left out too, and mean the same."""


def check_ollama(body: dict[str, Any]) -> None:
    """``body`` by the client ``ollama``, which leaves out what it does not know."""
    said = [{key: value for key, value in message.items() if value != ""} for message in body["messages"]]
    lost = unkept({**body, "messages": said}, asked_of_ollama(body))
    assert [at for at in lost if at.strip("/") not in SENT_BESIDES and not _OLLAMA_LACKS.fullmatch(at)] == []


def check_mistral(body: dict[str, Any]) -> None:
    """``body`` by the client ``mistralai``, which leaves out what it does not know."""
    assert list(unkept(body, asked_of_mistral(body))) == []
