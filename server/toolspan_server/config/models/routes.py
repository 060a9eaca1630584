"""``responses``: routes, which say which model answers what, with which tools."""

from __future__ import annotations

from ...common.re2_patterns import intent_pattern
from ...schema.records import (
    Record,
    key,
)
from ...schema.values import (
    Count,
    Iterations,
    Temperature,
)


class ResponseMatch(Record):
    """When a route applies: every condition given must hold."""

    intent_regexp: str | None = key(
        "RE2 pattern looked for in the user's message: plain, /in slashes/ or /in any case/i.",
        check=intent_pattern,
        default=None,
    )
    service: str | None = key("The service that the message is for.", default=None)


class ResponseTools(Record):
    """Which tools a route offers."""

    enabled: bool = key("Whether the route offers tools.", default=True)
    allowed_tools: tuple[str, ...] | None = key(
        "Names of the tools offered; all of them when absent. builtin:NAME is a tool of the provider's own, "
        "such as builtin:web_search.",
        default=None,
    )
    max_iterations: Iterations | None = key(
        "How many times the model may call tools; tools.max_iterations when absent.",
        default=None,
    )


class ResponseRule(Record):
    """A route: which model answers, with which prompt and tools."""

    match: ResponseMatch = key("When the route applies; empty: always.", factory=ResponseMatch.initial)
    llm: str | None = key("The provider, such as openai or ollama.", default=None)
    model: str | None = key("The provider's name of the model.", default=None)
    prompt: str | None = key("Template of the prompt, over {{user_message}}.", default=None)
    max_tokens: Count | None = key("Most tokens in one reply.", default=None)
    temperature: Temperature | None = key("Randomness of the reply.", default=None)
    tools: ResponseTools | None = key("Which tools the route offers.", default=None)
