"""The body of a request to ``/api/chat``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...messages import Request, ToolChoice, ToolSpec
from ..names import NameTable
from ..shared.contract import Loss
from ..shared.json_values import clean_object, compact, text
from ..shared.schemas import (
    Plan,
    array_items,
    const_to_enum,
    inline,
    keep_only,
    merge_all_of,
    object_properties,
    object_schemas,
    one_of_to_any_of,
    restore_arguments,
    tuples_as_lists,
)
from ..shared.settings import fit_settings, with_settings
from ..shared.tools.choice import must_call
from ..shared.tools.compile import CompiledTools, WireTool, compile_tools
from .conversation import messages
from .thinking import think_value

KEPT = frozenset({"anyOf", "description", "enum", "items", "properties", "required", "type"})
KEPT_AT_ROOT = frozenset({"items", "properties", "required", "type"})
PLAN = Plan(
    steps=(
        object_schemas,
        inline,
        const_to_enum,
        one_of_to_any_of,
        merge_all_of,
        tuples_as_lists,
        keep_only(KEPT, root=KEPT_AT_ROOT, skip=frozenset({"items"})),
        array_items,
        object_properties,
    )
)
_MUST_CALL = "Answer by calling one of the tools."
_MUST_CALL_IT = "Answer by calling the tool {}."
_MUST_FIT = "When you call no tool, answer with nothing but JSON that fits this JSON Schema: {}"


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"type": "function", "function": {"name", "description", "parameters"}}]``."""
    return _prepare(tools, names).rendered(_tool)


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /api/chat``.

    The API has no tool choice: ``none`` sends no tools, ``required`` asks for a call in the system prompt,
    and one named tool is sent alone. Whether several calls may come is not for the request to say either.
    ``format`` holds the schema of the answer. It binds all that the model writes, calls too: beside tools the
    system prompt asks for it instead.
    """
    tools = [] if request.tool_choice == "none" else render_tools(request.tools, names)
    tools, instruction = _chosen(request.tool_choice, tools, names)
    schema = request.answer_schema
    asked = _MUST_FIT.format(compact(dict(schema))) if schema is not None and tools else ""
    system = "\n\n".join(filter(None, (request.system.strip(), instruction, asked)))
    body: dict[str, Any] = {
        "model": request.model,
        "messages": messages(request, system),
        "stream": request.stream,
    }
    if tools:
        body["tools"] = tools
    elif schema is not None:
        body["format"] = dict(schema)
    if request.reasoning is not None:
        body["think"] = think_value(request.model, request.reasoning)
    wanted = {"num_predict": request.max_tokens, "temperature": request.temperature}
    options = {name: value for name, value in wanted.items() if value is not None}
    if options:
        body["options"] = options
    return clean_object(with_settings(body, fit_settings(request, "ollama")[0], "ollama"))


def request_notes(request: Request) -> tuple[str, ...]:
    """What of ``request`` the API has no place for, for people to read."""
    return fit_settings(request, "ollama")[1]


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What Ollama's server would drop of ``tools``."""
    return list(_prepare(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, and whole floats as integers."""
    return restore_arguments(tool.schema, arguments, PLAN)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> CompiledTools:
    return compile_tools(tools, names, PLAN)


def _tool(tool: WireTool) -> dict[str, Any]:
    """The root's own description has no slot in ``parameters``: it joins the tool's."""
    parameters = {key: value for key, value in tool.schema.items() if key != "description"}
    description = " ".join(filter(None, (tool.description, text(tool.schema.get("description")))))
    function = {"name": tool.name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _chosen(
    choice: ToolChoice, tools: list[dict[str, Any]], names: NameTable
) -> tuple[list[dict[str, Any]], str]:
    """The tools to send, and what to ask of the model so that it calls one."""
    name = must_call(choice, (tool["function"]["name"] for tool in tools), names)
    if name is not None:
        return [tool for tool in tools if tool["function"]["name"] == name], _MUST_CALL_IT.format(name)
    return tools, _MUST_CALL if tools and choice == "required" else ""
