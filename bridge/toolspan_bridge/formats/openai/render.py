"""The body of a Chat Completions request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...messages import Request, ToolSpec
from ..names import NameTable
from ..shared.contract import Loss
from ..shared.json_values import at, clean_object, text
from ..shared.schemas import (
    OPENAI_STRICT,
    Plan,
    array_items,
    object_properties,
    object_schemas,
)
from ..shared.settings import with_settings
from ..shared.tools.choice import must_call
from ..shared.tools.compile import CompiledTools, WireTool, compile_tools
from ..shared.tools.compile import restore as restore_tool
from .answer_schema import response_format, words
from .conversation import messages
from .fit import fitted, thought_fields

MAX_TOOLS = 128
MAX_CACHE_KEY = 64
BUILTINS: dict[str, dict[str, Any]] = {"web_search": {"web_search_options": {}}}
PLAN = Plan(steps=(object_schemas, array_items, object_properties))


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"type": "function", "function": {"name", "description", "parameters", "strict"}}]``.

    Strict only where a tool asks for it and nothing is lost. At most 128: the rest, in the order of their
    names, is left out and reported by ``losses``.
    """
    return _prepare(tools, names).rendered(_tool)


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /v1/chat/completions``, without what ``fitted`` leaves out. ``auto`` is the default
    and not sent.
    """
    request, _ = fitted(request)
    answer = response_format(request, PLAN)
    if (answer is None or answer["type"] == "json_object") and (told := words(request)):
        request = replace(request, system="\n\n".join(filter(None, (request.system, told))))
    body: dict[str, Any] = {"model": request.model, "messages": messages(request)}
    tools = render_tools(request.tools, names)
    if tools:
        body["tools"] = tools
        if (choice := _choice(request, names, tools)) is not None:
            body["tool_choice"] = choice
        if request.parallel is not None:
            body["parallel_tool_calls"] = request.parallel
    for name in request.builtins:
        body |= BUILTINS.get(name, {})
    if request.stream:
        body["stream"] = True
        if request.wire.chat.stream_usage:
            body["stream_options"] = {"include_usage": True}
    if request.max_tokens is not None:
        body["max_completion_tokens"] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if answer is not None:
        body["response_format"] = answer
    if request.wire.chat.cache_key and request.cache and request.conversation:
        body["prompt_cache_key"] = request.conversation[:MAX_CACHE_KEY]
    body = with_settings(body, request, "openai", {"seed": request.wire.chat.seed})
    return clean_object(body | thought_fields(request))


def takes_answer_schema(request: Request) -> bool:
    """The request holds every schema, in ``response_format`` or in its system prompt."""
    return True


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What non-strict function schemas cannot say of ``tools``."""
    return list(_prepare(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, and whole floats as integers."""
    return restore_tool(tool, arguments, PLAN, OPENAI_STRICT)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> CompiledTools:
    return compile_tools(tools, names, PLAN, MAX_TOOLS, OPENAI_STRICT)


def _tool(tool: WireTool) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": tool.strict,
    }
    return {"type": "function", "function": function}


def _choice(request: Request, names: NameTable, sent: Sequence[dict[str, Any]]) -> Any:
    """The ``tool_choice``; ``None`` for the default."""
    if isinstance(request.tool_choice, str):
        return None if request.tool_choice == "auto" else request.tool_choice
    name = must_call(request.tool_choice, (text(at(tool, "function", "name")) for tool in sent), names)
    return None if name is None else {"type": "function", "function": {"name": name}}
