"""The body of a Responses request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...messages import Request, ToolSpec
from ..names import NameTable
from ..shared.contract import Loss
from ..shared.json_values import clean_object
from ..shared.loss_rules import loss
from ..shared.openai_models import reasons, searches_tools
from ..shared.schemas import (
    OPENAI_STRICT,
    Plan,
    Unrenderable,
    array_items,
    compile_schema,
    object_properties,
    object_schemas,
)
from ..shared.settings import with_settings
from ..shared.tools.choice import must_call
from ..shared.tools.compile import CompiledTools, WireTool, compile_tools
from ..shared.tools.compile import restore as restore_by
from .answer_schema import answer_format
from .builtin_tools import builtin_tools
from .conversation import input_items
from .deferred import MAX_DEFERRED, TOOL_SEARCH, namespaces
from .fit import fitted, reasoning

MAX_TOOLS = 128
MIN_OUTPUT_TOKENS = 16
MAX_CACHE_KEY = 64
PLAN = Plan(steps=(object_schemas, array_items, object_properties))
_NOT_PLAIN = frozenset({"$ref", "allOf", "anyOf", "if", "not", "oneOf"})


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"type": "function", "name", "description", "parameters", "strict", "output_schema"?}]``.

    ``strict`` is always sent: without it the API would try to be. At most 128 tools.
    """
    return _prepare(tools, names).rendered(_function)


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /v1/responses``, without what ``fitted`` leaves out; nothing is stored there."""
    request, _ = fitted(request)
    body: dict[str, Any] = {"model": request.model, "input": list(input_items(request)), "store": False}
    if reasons(request.model) is not False:
        body["include"] = ["reasoning.encrypted_content"]
    if request.system.strip():
        body["instructions"] = request.system
    functions, searched = _offered(request, names)
    if tools := [*functions, *searched, *builtin_tools(request)]:
        body["tools"] = tools
        body |= _choice(request, names, functions)
    return clean_object(with_settings(body | _settings(request), request, "openai-responses"))


def defers_tools(model: str) -> bool:
    """Whether ``model`` searches for tools of which there are more than are sent at once."""
    return searches_tools(model)


def takes_answer_schema(request: Request) -> bool:
    """Whether the request holds its schema in ``text.format``."""
    return answer_format(request, PLAN) is not None


def _offered(request: Request, names: NameTable) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The functions that are sent as they are, and the namespaces of those that the model searches for.

    A tool that has to be called is always sent as it is.
    """
    most = MAX_TOOLS if request.defer_tools is None else min(request.defer_tools, MAX_TOOLS)
    if len(request.tools) <= most or not defers_tools(request.model):
        return render_tools(request.tools, names), []
    functions = compile_tools(request.tools, names, PLAN, MAX_DEFERRED, OPENAI_STRICT).rendered(_function)
    if len(functions) <= most:
        return functions, []
    forced = must_call(request.tool_choice, (each["name"] for each in functions), names)
    direct = [each for each in functions if each["name"] == forced]
    others = (each for each in functions if each["name"] != forced)
    return direct, [*namespaces(others, names), TOOL_SEARCH]


def _settings(request: Request) -> dict[str, Any]:
    keeps = request.cache and request.conversation
    shape = answer_format(request, PLAN)
    limit = request.max_tokens
    settings = {
        "max_output_tokens": None if limit is None else max(limit, MIN_OUTPUT_TOKENS),
        "prompt_cache_key": request.conversation[:MAX_CACHE_KEY] if keeps else None,
        "reasoning": reasoning(request),
        "stream": request.stream or None,
        "temperature": request.temperature,
        "text": None if shape is None else {"format": shape},
    }
    return {name: value for name, value in settings.items() if value is not None}


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What function schemas cannot say of ``tools``."""
    prepared = _prepare(tools, NameTable.of(tools))
    unsaid = [
        loss(tool.name, "", "output-schema", "the schema of its results is not sent")
        for tool in prepared.tools
        if tool.output_schema is not None and _output_schema(tool.output_schema) is None
    ]
    return [*prepared.losses, *unsaid]


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, whole floats as integers, and the nulls of strict mode taken out."""
    return restore_by(tool, arguments, PLAN, OPENAI_STRICT)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> CompiledTools:
    return compile_tools(tools, names, PLAN, MAX_TOOLS, OPENAI_STRICT)


def _function(tool: WireTool) -> dict[str, Any]:
    function: dict[str, Any] = {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": tool.strict,
    }
    results = None if tool.output_schema is None else _output_schema(tool.output_schema)
    return function if results is None else {**function, "output_schema": results}


def _output_schema(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema of structured results where it is as plain as one of arguments must be: it is a hint."""
    if given.get("type") != "object" or _NOT_PLAIN & given.keys():
        return None
    try:
        return compile_schema(given, PLAN).schema
    except Unrenderable:
        return None


def _choice(request: Request, names: NameTable, functions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """``auto`` and calls in parallel are the defaults, not sent; a tool that is not sent cannot be forced."""
    choice_fields: dict[str, Any] = (
        {} if request.parallel is None else {"parallel_tool_calls": request.parallel}
    )
    choice = request.tool_choice
    if isinstance(choice, str):
        return choice_fields if choice == "auto" else {**choice_fields, "tool_choice": choice}
    name = must_call(choice, (tool["name"] for tool in functions), names)
    return (
        choice_fields
        if name is None
        else {**choice_fields, "tool_choice": {"type": "function", "name": name}}
    )
