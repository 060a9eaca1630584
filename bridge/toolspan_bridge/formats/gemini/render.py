"""The body of a ``generateContent`` request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...messages import Request, ToolSpec
from ..names import NameTable
from ..shared.contract import Loss
from ..shared.json_values import clean_object, text
from ..shared.schemas import (
    Plan,
    array_items,
    closed_bounds,
    const_to_enum,
    inline_awkward,
    keep_only,
    merge_all_of,
    object_schemas,
    plain_enums,
    wide_integers,
)
from ..shared.tools.choice import must_call
from ..shared.tools.compile import CompiledTools, WireTool, compile_tools
from ..shared.tools.compile import restore as restore_by
from .continuation import continued
from .conversation import contents, generation

MAX_TOOLS = 512
BUILTINS: dict[str, dict[str, Any]] = {"web_search": {"googleSearch": {}}}
KEPT = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "oneOf",
        "prefixItems",
        "properties",
        "required",
        "title",
        "type",
    }
)
PLAN = Plan(
    keys=re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}"),
    steps=(
        object_schemas,
        inline_awkward,
        const_to_enum,
        merge_all_of,
        plain_enums,
        closed_bounds,
        wide_integers,
        keep_only(KEPT),
        array_items,
    ),
)
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"functionDeclarations": [{"name", "description", "parametersJsonSchema"}]}]``, at most 512."""
    declared = _prepare(tools, names).rendered(_declaration)
    return [{"functionDeclarations": declared}] if declared else []


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST …/models/{model}:generateContent`` and ``:streamGenerateContent``.

    The model, and whether the answer is streamed, are in the address only.
    """
    request, token = continued(request)
    body: dict[str, Any] = {"contents": list(contents(request))}
    if token:
        body["continuationToken"] = token
    if request.system.strip():
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    functions = render_tools(request.tools, names)
    builtins = [BUILTINS[name] for name in dict.fromkeys(request.builtins) if name in BUILTINS]
    mixed = bool(functions and builtins) and mixes(request.model)
    if functions:
        shown = {"includeServerSideToolInvocations": True} if mixed else {}
        body["toolConfig"] = {"functionCallingConfig": _choice(request, names, functions, mixed), **shown}
    if tools := functions + (builtins if mixed or not functions else []):
        body["tools"] = tools
    wanted = {"maxOutputTokens": request.max_tokens, "temperature": request.temperature}
    options = {name: value for name, value in wanted.items() if value is not None}
    if options:
        body["generationConfig"] = options
    return clean_object(body)


def mixes(model: str) -> bool:
    """Whether ``model`` takes functions and built-in tools in one request; older ones refuse it (400).

    A model whose name does not show its generation counts as older: then the functions alone are sent.
    """
    return (generation(model) or 0) >= 3


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What ``parametersJsonSchema`` cannot say of ``tools``."""
    return list(_prepare(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, keys renamed back, and whole floats as integers: Gemini knows only doubles."""
    return restore_by(tool, arguments, PLAN)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> CompiledTools:
    return compile_tools(tools, names, PLAN, MAX_TOOLS)


def _declaration(tool: WireTool) -> dict[str, Any]:
    """A description is never empty: the API wants one."""
    description = tool.description or text(tool.schema.get("title")).strip() or tool.name
    return {"name": tool.name, "description": description, "parametersJsonSchema": tool.schema}


def _choice(
    request: Request, names: NameTable, functions: Sequence[dict[str, Any]], mixed: bool
) -> dict[str, Any]:
    """The mode of calling. Beside built-in tools there is no ``AUTO``: ``VALIDATED`` is text or a call."""
    sent = (text(entry.get("name")) for entry in functions[0]["functionDeclarations"])
    if (name := must_call(request.tool_choice, sent, names)) is not None:
        return {"mode": "ANY", "allowedFunctionNames": [name]}
    mode = _MODES[request.tool_choice if isinstance(request.tool_choice, str) else "auto"]
    return {"mode": "VALIDATED" if mixed and mode == "AUTO" else mode}
