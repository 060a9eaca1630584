"""How Gemini is to answer: limits, effort, the schema of the answer; and what of it a model does not take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...messages import Request
from ..shared.json_values import as_object
from ..shared.schemas import Plan, Unrenderable, compile_schema
from ..shared.settings import fit_settings
from .models import Line, line
from .plan import PLAN
from .search import DEVELOPER, Api, search_notes

__all__ = ["generation_config", "request_notes", "served", "takes_answer_schema"]

_LEAST_BUDGET = 512
_NOT_PLAIN = frozenset({"$ref", "allOf", "anyOf", "if", "not", "oneOf"})


def generation_config(request: Request) -> dict[str, Any]:
    """``generationConfig``; empty when the request says nothing of it."""
    wanted = {"maxOutputTokens": request.max_tokens, "temperature": request.temperature}
    config: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    if thinking := _thinking(request, line(request.model)):
        config["thinkingConfig"] = thinking
    if request.answer_schema is not None and takes_answer_schema(request):
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = compile_schema(request.answer_schema, PLAN).schema
    return config


def takes_answer_schema(request: Request) -> bool:
    """Whether the answer's schema is sent: of an object whose keys need not be renamed, and beside tools only
    to models that take both.
    """
    known, schema = line(request.model), request.answer_schema
    if schema is None or schema.get("type") != "object" or _NOT_PLAIN & schema.keys():
        return False
    with_tools = bool(request.tools or request.builtins)
    if not (known.formatted_with_tools if with_tools else known.formatted):
        return False
    try:
        return compile_schema(schema, PLAN).schema == compile_schema(schema, Plan(PLAN.steps)).schema
    except Unrenderable:
        return False


def served(request: Request, known_tools: Mapping[str, Any]) -> list[str]:
    """The built-in tools that are asked for and that the model has."""
    has = line(request.model).builtins
    return [name for name in dict.fromkeys(request.builtins) if name in known_tools and name in has]


def request_notes(request: Request, known_tools: Mapping[str, Any], api: Api = DEVELOPER) -> tuple[str, ...]:
    """What of ``request`` its model, or ``api``, does not take, for people to read."""
    model, known = request.model, line(request.model)
    notes: list[str] = []
    if request.reasoning is not None and known.levels is None and known.budgets is None:
        if request.reasoning != "none" or known.version is None:
            notes.append(f"{model} takes no effort of reasoning: {request.reasoning!r} is left out")
    elif request.reasoning == "none" and not known.silenced:
        notes.append(f"{model} always thinks: its effort is the lowest")
    missing = [name for name in dict.fromkeys(request.builtins) if name in known_tools]
    has = served(request, known_tools)
    notes += [f"{model} has no {name} of its own: it is left out" for name in missing if name not in has]
    return (*notes, *_unknown_options(request, has, api), *fit_settings(request, "gemini")[1])


def _unknown_options(request: Request, has: Sequence[str], api: Api) -> Iterator[str]:
    for name in has:
        if name == "web_search":
            yield from search_notes(request, api)
        elif options := sorted(as_object(request.builtin_options.get(name)) or {}):
            yield f"Google's {name} takes no {', '.join(options)}: left out"


def _thinking(request: Request, known: Line) -> dict[str, Any]:
    """Thoughts are shown in summary where they are asked for: the model would be silent meanwhile."""
    effort = request.reasoning
    if effort is None:
        return {}
    shown = {} if effort == "none" else {"includeThoughts": True}
    if known.levels is not None:
        return {"thinkingLevel": known.levels[effort], **shown}
    if known.budgets is not None:
        return {"thinkingBudget": _budget(known.budgets[effort], request.max_tokens), **shown}
    return {}


def _budget(tokens: int, max_tokens: int | None) -> int:
    """Thoughts count as output: half of the limit stays for the answer."""
    if max_tokens is None or tokens <= _LEAST_BUDGET:
        return tokens
    return max(_LEAST_BUDGET, min(tokens, max_tokens // 2))
