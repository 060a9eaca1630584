"""Finds the rule that matches a message, and what it says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from toolspan_server.common.re2_patterns import compiled_intent
from toolspan_server.config import BUILTIN, RAG_CONTEXT, Config

from ..errors import UsageError
from ..loop import NO_LIMITS, REPAIR_ATTEMPTS, RESULT_CHARACTERS, Limits, Question
from ..messages import Mark, ReasoningEffort
from .builtins import unknown_builtins
from .collections import Passages
from .profile import Profile, matches, written
from .prompt import NOTHING, PromptValues, placeholders, system_text

if TYPE_CHECKING:
    from toolspan_server.config import ResponseRule, RunLimits

_HOSTS = ("allowed_domains", "blocked_domains")
_BEST = "best"
_PLACE = ("country", "region", "city", "timezone")


@dataclass(frozen=True, slots=True)
class Route:
    """How a message is to be answered. ``model`` is ``provider/model``, or ``best`` or ``best:provider`` for
    the cheapest validated one; empty when the rule names none.
    ``builtins`` are tools of the provider's own; ``reasoning`` is how much the model is to think;
    ``tools_offered`` the most tools that are offered at once; ``web_search`` the settings of that tool. The
    others are as a ``Question`` has them, and ``marks``: of a prompt in a config that nobody trusts.
    ``passages`` are what its prompt wants of the config's documents,
    if it wants any."""

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
    max_parallel: int = 16
    repair_attempts: int = REPAIR_ATTEMPTS
    limits: Limits = NO_LIMITS
    conversation_limits: Limits = NO_LIMITS
    context_tokens: int | None = None
    result_characters: int = RESULT_CHARACTERS
    compact: bool = False
    passages: Passages | None = None
    marks: tuple[Mark, ...] = ()

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
            max_parallel=self.max_parallel,
            repair_attempts=self.repair_attempts,
            limits=self.limits,
            conversation_limits=self.conversation_limits,
            context_tokens=self.context_tokens,
            result_characters=self.result_characters,
            compact=self.compact,
            marks=self.marks,
        )


def route(
    config: Config,
    message: str,
    *,
    service: str | None = None,
    profile: Profile | None = None,
    values: PromptValues = NOTHING,
    workspace: bool = False,
) -> Route:
    """The route of the first rule that matches; without one, all tools and the config's limits.

    ``profile`` is what is known of the caller, by name; ``service`` is that name in it. A rule matches where
    the profile has everything that it wants. ``values`` fill the prompt, beside the profile and what the
    config sets of it. ``workspace``: there is one beside those of the config.

    Raises ``UsageError`` when a rule's pattern is no RE2 pattern, or its prompt names what the profile lacks.
    """
    known: Profile = {**(profile or {}), **({} if service is None else {"service": service})}
    limited = unmatched(config, workspace=workspace)
    for position, rule in enumerate(config.responses):
        if _matches(rule, message, known, f"$.responses[{position}].match.intent_regexp"):
            set_ = {name: value for name, value in config.profile.items() if value is not None}
            found = _route(
                rule, limited, replace(values, profile={**set_, **written(known), **values.profile})
            )
            if not config.is_restricted:
                return found
            what = f"the config of {config.name!r}, which nobody trusts"
            return replace(found, marks=(Mark("foreign", what, config.name),))
    return limited


def toolless_notes(config: Config) -> list[str]:
    """A sentence about each route that offers no tools although it does not switch them off: one without
    ``tools``, and one whose list of them is empty."""
    notes: list[str] = []
    for position, rule in enumerate(config.responses):
        place = f"$.responses[{position}]"
        if rule.tools is None:
            notes.append(
                f"{place}: the route has no 'tools', so it offers none: write tools: {{enabled: true}} to "
                "offer all, or name some under tools.allowed_tools"
            )
        elif rule.tools.enabled and rule.tools.allowed_tools == ():
            notes.append(
                f"{place}.tools.allowed_tools: the list is empty, so the route offers no tools: leave it out "
                "to offer all, or write tools: {enabled: false}"
            )
    return notes if config.tools.enabled else []


def unknown_tools(config: Config, known: Iterable[str]) -> list[str]:
    """What is wrong with the rules' ``allowed_tools``: each name that no connected server has, and each
    tool of a provider's own that no provider has. Where tools are off, by the rule or the config, no name is
    looked for."""
    names = sorted(set(known))
    there = ", ".join(names) or "none"
    rules = [
        (f"$.responses[{position}].tools.allowed_tools", rule)
        for position, rule in enumerate(config.responses)
        if rule.tools and rule.tools.enabled and config.tools.enabled
    ]
    return [
        f"{place}: no tool {name!r} (known: {there})"
        for place, rule in rules
        for name in (rule.tools.allowed_tools if rule.tools else None) or ()
        if name not in names and not name.startswith(BUILTIN)
    ] + [f"{place}: {problem}" for place, rule in rules for problem in unknown_builtins(_builtins(rule))]


def _matches(rule: ResponseRule, message: str, profile: Profile, place: str) -> bool:
    wanted = {} if rule.match.service is None else {"service": rule.match.service}
    if not matches({**rule.match.profile, **wanted}, profile):
        return False
    pattern = rule.match.intent_regexp
    return pattern is None or _found(pattern, message, place)


def _found(pattern: str, message: str, place: str) -> bool:
    try:
        return compiled_intent(pattern).search(message) is not None
    except ValueError as error:
        raise UsageError(f"{place}: {pattern!r} is {error}") from None


def _route(rule: ResponseRule, limited: Route, values: PromptValues) -> Route:
    tools = rule.tools
    return replace(
        limited,
        system=system_text(rule.prompt or "", values),
        passages=_passages(rule),
        model=_model(rule),
        tools_enabled=tools is not None and tools.enabled,
        allowed_tools=_allowed(tools.allowed_tools if tools else None),
        builtins=_builtins(rule),
        max_iterations=(tools.max_iterations if tools else None) or limited.max_iterations,
        max_tokens=rule.max_tokens,
        temperature=rule.temperature,
        reasoning=rule.reasoning,
        web_search=_web_search(rule),
    )


def unmatched(config: Config, *, workspace: bool = False) -> Route:
    """The route of a message that no rule matches: all tools, and the limits of ``config``, which hold too
    where a rule has none of its own. ``workspace`` as for ``route``."""
    limits = config.limits
    return Route(
        max_iterations=config.max_iterations(workspace=workspace),
        tools_offered=limits.tools_offered,
        max_parallel=config.tools.max_parallel,
        repair_attempts=config.tools.repair_attempts,
        limits=_limits(limits.question),
        conversation_limits=_limits(limits.conversation),
        context_tokens=limits.context_tokens,
        result_characters=limits.result_characters,
        compact=limits.compact,
    )


def _limits(written: RunLimits) -> Limits:
    return Limits(written.calls, written.tokens, written.usd, written.seconds)


def _passages(rule: ResponseRule) -> Passages | None:
    if RAG_CONTEXT not in placeholders(rule.prompt or ""):
        return None
    return Passages(rule.rag.collection, rule.rag.max_results)


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
    if rule.model == _BEST:
        return f"{_BEST}:{rule.llm}" if rule.llm else _BEST
    return "/".join(part for part in (rule.llm, rule.model) if part) if rule.model else ""
