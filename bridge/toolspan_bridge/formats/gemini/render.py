"""The body of a ``generateContent`` request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...messages import Request, ToolSpec
from ..names import NameTable
from ..shared.contract import Loss
from ..shared.json_values import clean_object, text
from ..shared.settings import fit_settings, with_settings
from ..shared.tools.choice import must_call
from ..shared.tools.compile import CompiledTools, WireTool, compile_tools
from ..shared.tools.compile import restore as restore_by
from .continuation import continued
from .conversation import contents
from .models import line
from .options import generation_config, served
from .options import request_notes as notes_on
from .plan import PLAN
from .search import DEVELOPER, google_search, retrieval_config

MAX_TOOLS = 512
BUILTINS: dict[str, dict[str, Any]] = {
    "code_execution": {"codeExecution": {}},
    "web_fetch": {"urlContext": {}},
    "web_search": {"googleSearch": {}},
}
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
    own = served(request, BUILTINS)
    builtins = [google_search(request, DEVELOPER) if name == "web_search" else BUILTINS[name] for name in own]
    mixed = bool(functions and builtins) and mixes(request.model)
    if functions:
        shown = {"includeServerSideToolInvocations": True} if mixed else {}
        body["toolConfig"] = {"functionCallingConfig": _choice(request, names, functions, mixed), **shown}
    if tools := functions + (builtins if mixed or not functions else []):
        body["tools"] = tools
    if "web_search" in own and (mixed or not functions) and (place := retrieval_config(request)):
        body["toolConfig"] = {**body.get("toolConfig", {}), "retrievalConfig": place}
    if config := generation_config(request):
        body["generationConfig"] = config
    return clean_object(with_settings(body, fit_settings(request, "gemini")[0], "gemini"))


def mixes(model: str) -> bool:
    """Whether ``model`` takes functions and built-in tools in one request; older ones refuse it (400).

    A model whose name does not show its generation counts as older: then the functions alone are sent.
    """
    return line(model).mixes


def request_notes(request: Request) -> tuple[str, ...]:
    """What of ``request`` its model does not take, for people to read."""
    return notes_on(request, BUILTINS)


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
    """The mode of calling. ``VALIDATED`` is text, or a call that fits its schema: it is for strict tools, and
    beside built-in ones, where there is no ``AUTO``.
    """
    sent = (text(entry.get("name")) for entry in functions[0]["functionDeclarations"])
    if (name := must_call(request.tool_choice, sent, names)) is not None:
        return {"mode": "ANY", "allowedFunctionNames": [name]}
    mode = _MODES[request.tool_choice if isinstance(request.tool_choice, str) else "auto"]
    strict = line(request.model).validated and any(tool.strict for tool in request.tools)
    return {"mode": "VALIDATED" if (mixed or strict) and mode == "AUTO" else mode}
