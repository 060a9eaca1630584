"""Routes: the ``responses`` rules of a config. The first that matches a message says which model answers it,
with which prompt and tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolspan_server.common.re2_patterns import compiled_intent
from toolspan_server.config import BUILTIN, Config

from .errors import UsageError
from .formats import builtin_names, format_names
from .loop import Question
from .messages import ReasoningEffort

if TYPE_CHECKING:
    from toolspan_server.config import ResponseRule

USER_MESSAGE = "user_message"
RAG_CONTEXT = "rag_context"

_HOSTS = ("allowed_domains", "blocked_domains")
_PLACE = ("country", "region", "city", "timezone")
_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_USER_LINE = re.compile(r"^[^\S\n]*(?:user|question|message|query)?[^\S\n]*:?[^\S\n]*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Route:
    """How a message is to be answered. ``model`` is ``provider/model``, empty when the rule names none.
    ``builtins`` are tools of the provider's own; ``reasoning`` is how much the model is to think;
    ``tools_offered`` the most tools that are offered at once; ``web_search`` the settings of that tool."""

    system: str = ""
    model: str = ""
    tools_enabled: bool = True
    allowed_tools: tuple[str, ...] | None = None
    max_iterations: int = 5
    max_tokens: int | None = None
    temperature: float | None = None
    builtins: tuple[str, ...] = ()
    reasoning: ReasoningEffort | None = None
    tools_offered: int | None = None
    web_search: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def question(self, text: str, model: str) -> Question:
        """The question ``text`` to ``model`` (its name at its provider), as the route says."""
        return Question(
            text,
            model,
            system=self.system,
            allowed_tools=self.allowed_tools if self.tools_enabled else (),
            max_iterations=self.max_iterations,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            builtins=self.builtins if self.tools_enabled else (),
            reasoning=self.reasoning,
            tools_offered=self.tools_offered,
            builtin_options={"web_search": self.web_search} if self.web_search else {},
        )


def route(config: Config, message: str, *, service: str | None = None) -> Route:
    """The route of the first rule that matches; without one, all tools and the config's limits.

    ``service`` is what a rule's ``match.service`` has to equal; without it rules that want one do not match.

    Raises ``UsageError`` when a rule's pattern is no RE2 pattern.
    """
    for position, rule in enumerate(config.responses):
        if _matches(rule, message, service, f"$.responses[{position}].match.intent_regexp"):
            return _route(rule, config)
    return Route(max_iterations=config.tools.max_iterations, tools_offered=config.limits.tools_offered)


def unknown_tools(config: Config, known: Iterable[str]) -> list[str]:
    """What is wrong with the rules' ``allowed_tools``: each name that no connected server has, and each
    tool of a provider's own that no provider has."""
    names = sorted(set(known))
    there = ", ".join(names) or "none"
    return [
        f"$.responses[{position}].tools.allowed_tools: no tool {name!r} (known: {there})"
        for position, rule in enumerate(config.responses)
        if rule.tools and rule.tools.allowed_tools
        for name in rule.tools.allowed_tools
        if name not in names and not name.startswith(BUILTIN)
    ] + [
        f"$.responses[{position}].tools.allowed_tools: {problem}"
        for position, rule in enumerate(config.responses)
        for problem in unknown_builtins(_builtins(rule))
    ]


def unknown_builtins(names: Iterable[str]) -> list[str]:
    """What is wrong with ``names`` of providers' own tools: each that no format can switch on."""
    wanted = list(names)
    known = sorted({name for each in format_names() for name in builtin_names(each)}) if wanted else []
    there = ", ".join(known)
    return [
        f"no provider has a built-in tool {name!r} (known: {there})" for name in wanted if name not in known
    ]


def check_builtins(names: Iterable[str]) -> None:
    """Raises ``UsageError`` when no provider has one of the built-in tools ``names``."""
    if problems := unknown_builtins(names):
        raise UsageError("; ".join(problems))


def _matches(rule: ResponseRule, message: str, service: str | None, place: str) -> bool:
    if rule.match.service is not None and rule.match.service != service:
        return False
    pattern = rule.match.intent_regexp
    return pattern is None or _found(pattern, message, place)


def _found(pattern: str, message: str, place: str) -> bool:
    try:
        return compiled_intent(pattern).search(message) is not None
    except ValueError as error:
        raise UsageError(f"{place}: {pattern!r} is {error}") from None


def _route(rule: ResponseRule, config: Config) -> Route:
    tools = rule.tools
    return Route(
        system=system_text(rule.prompt or ""),
        model=_model(rule),
        tools_enabled=tools is None or tools.enabled,
        allowed_tools=_allowed(tools.allowed_tools if tools else None),
        builtins=_builtins(rule),
        max_iterations=(tools.max_iterations if tools else None) or config.tools.max_iterations,
        max_tokens=rule.max_tokens,
        temperature=rule.temperature,
        reasoning=rule.reasoning,
        tools_offered=config.limits.tools_offered,
        web_search=_web_search(rule),
    )


def _allowed(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(name for name in names if not name.startswith(BUILTIN))


def _builtins(rule: ResponseRule) -> tuple[str, ...]:
    names = (rule.tools.allowed_tools if rule.tools else None) or ()
    return tuple(name.removeprefix(BUILTIN) for name in names if name.startswith(BUILTIN))


def _web_search(rule: ResponseRule) -> dict[str, Any]:
    if rule.tools is None or rule.tools.web_search is None:
        return {}
    written: dict[str, Any] = rule.tools.web_search.model_dump()
    return web_search_options({name: value for name, value in written.items() if value is not None})


def web_search_options(written: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as requests carry them: what says where the user is, as ``user_location``."""
    place = {key: written[key] for key in _PLACE if key in written}
    others = {key: value for key, value in written.items() if key not in (*_PLACE, *_HOSTS)}
    others |= {key: list(written[key]) for key in _HOSTS if key in written}
    return others | ({"user_location": place} if place else {})


def _model(rule: ResponseRule) -> str:
    return "/".join(part for part in (rule.llm, rule.model) if part) if rule.model else ""


def system_text(prompt: str, rag_context: str = "") -> str:
    """The system prompt in a rule's ``prompt`` template.

    The message itself is the user's turn, so the line that only introduces ``{{user_message}}`` is left out;
    within a sentence the placeholder becomes “the user's message”.
    """
    lines = (_line(line, rag_context) for line in prompt.splitlines())
    kept = "\n".join(line for line in lines if line is not None)
    return re.sub(r"\n{3,}", "\n\n", kept).strip()


def _line(line: str, rag_context: str) -> str | None:
    names = {found.group(1) for found in _PLACEHOLDER.finditer(line)}
    if USER_MESSAGE in names and _USER_LINE.match(_PLACEHOLDER.sub("", line)):
        return None
    values = {USER_MESSAGE: "the user's message", RAG_CONTEXT: rag_context}
    return _PLACEHOLDER.sub(lambda found: values.get(found.group(1), found.group()), line)
