"""``responses``: routes, which say which model answers what, with which tools."""

from __future__ import annotations

from ...common.re2_patterns import intent_pattern
from ...schema.records import (
    Record,
    checked,
    key,
    many,
    optional,
    text,
)
from ...schema.values import (
    COUNT,
    FLAG,
    ITERATIONS,
    TEMPERATURE,
)


class ResponseMatch(Record):
    """When a route applies: every condition given must hold."""

    intent_regexp: str | None = key(
        optional(checked(text(), intent_pattern)),
        "RE2 pattern looked for in the user's message: plain, /in slashes/ or /in any case/i.",
        default=None,
    )
    service: str | None = key(optional(text()), "The service that the message is for.", default=None)


BUILTIN = "builtin:"
"""Before the name of a tool of the provider's own, in a route's ``allowed_tools``."""


class ResponseTools(Record):
    """Which tools a route offers."""

    enabled: bool = key(FLAG, "Whether the route offers tools.", default=True)
    allowed_tools: tuple[str, ...] | None = key(
        optional(many(text())),
        "Names of the tools offered; all of them when absent. builtin:NAME is a tool of the provider's own, "
        "such as builtin:web_search.",
        default=None,
    )
    max_iterations: int | None = key(
        optional(ITERATIONS),
        "How many times the model may call tools; tools.max_iterations when absent.",
        default=None,
    )


class ResponseRule(Record):
    """A route: which model answers, with which prompt and tools."""

    match: ResponseMatch = key(
        ResponseMatch.shape(), "When the route applies; empty: always.", factory=ResponseMatch.initial
    )
    llm: str | None = key(optional(text()), "The provider, such as openai or ollama.", default=None)
    model: str | None = key(optional(text()), "The provider's name of the model.", default=None)
    prompt: str | None = key(optional(text()), "Template of the prompt, over {{user_message}}.", default=None)
    max_tokens: int | None = key(optional(COUNT), "Most tokens in one reply.", default=None)
    temperature: float | None = key(optional(TEMPERATURE), "Randomness of the reply.", default=None)
    tools: ResponseTools | None = key(
        optional(ResponseTools.shape()), "Which tools the route offers.", default=None
    )
