"""The body of a Converse request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...messages import Request, ToolSpec
from ..names import NameTable
from ..shared.claude.tools import compiled
from ..shared.conversation.alternating import as_text
from ..shared.conversation.history import turns
from ..shared.json_values import clean_object
from ..shared.settings import fit_settings, with_settings
from ..shared.tools.choice import must_call
from ..shared.tools.compile import WireTool
from .conversation import LEGAL_ID, messages, thinks
from .families import family
from .options import cached, options_of, refused_settings

_NO_CALLS = "Answer in words now, without calling a tool."
_MUST_CALL = "Answer by calling one of the tools."


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"toolSpec": {"name", "description"?, "inputSchema": {"json"}, "strict"?}}]``, in ``toolConfig``."""
    return compiled(tools, names).rendered(_tool)


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /model/{modelId}/converse`` and ``…/converse-stream``; only they name the model.

    There is no tool choice ``none``, and tool blocks in the history need a ``toolConfig``: so ``none`` keeps
    the tools and asks for words in the system prompt, except of Claude, whose own field says it; and without
    any tools past calls are sent as text. A model may still call; whoever asked for none must not carry that
    out. A model that thinks, or is of a family that cannot be made to call, is asked to.
    """
    tools = render_tools(request.tools, names)
    history = turns(request.messages, LEGAL_ID)
    sent = messages(history if tools else as_text(history, request), request)
    options = options_of(request, sent)
    forced = options.forced and not thinks(request)
    choice, instruction = _choice(request, names, tools, forced=forced) if tools else ({}, "")
    none = {"tool_choice": {"type": "none"}} if tools and not choice else {}
    body: dict[str, Any] = {"messages": sent}
    system = [part for part in (request.system, instruction) if part.strip()]
    if system:
        body["system"] = [{"text": part} for part in system]
    if tools:
        body["toolConfig"] = {"tools": tools, **({"toolChoice": choice} if choice else {})}
    said = {
        "inferenceConfig": options.inference,
        "outputConfig": options.output,
        "additionalModelRequestFields": {**options.own, **none},
    }
    body |= {name: value for name, value in said.items() if value}
    fit, _ = fit_settings(request, "bedrock", refused_settings(request))
    return clean_object(cached(with_settings(body, fit, "bedrock"), request))


def _tool(tool: WireTool) -> dict[str, Any]:
    described = {"description": tool.description} if tool.description else {}
    strict = {"strict": True} if tool.strict else {}
    return {"toolSpec": {"name": tool.name, **described, "inputSchema": {"json": tool.schema}, **strict}}


def _choice(
    request: Request, names: NameTable, tools: Sequence[Mapping[str, Any]], *, forced: bool
) -> tuple[dict[str, Any], str]:
    """``toolChoice``, empty where the model's own field says it, and the instruction that stands for it in
    the system prompt.
    """
    known = family(request.model)
    if request.tool_choice == "none":
        return ({}, "") if known.none else ({"auto": {}}, _NO_CALLS)
    named = must_call(request.tool_choice, (tool["toolSpec"]["name"] for tool in tools), names)
    if named is None and request.tool_choice != "required":
        return {"auto": {}}, ""
    if not forced or ("any" if named is None else "tool") not in known.forced:
        return {"auto": {}}, _MUST_CALL if named is None else f"Answer by calling the tool {named}."
    return {"any": {}} if named is None else {"tool": {"name": named}}, ""
