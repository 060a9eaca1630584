"""``responses``: routes, which select the model and the tools for a question."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from ...common.re2_patterns import intent_pattern
from ...schema.constraints import AfterValidator, BeforeValidator, Limits
from ...schema.keys import CHOICE, DATA, PARTS, Inert, at_most, is_inside_folder
from ...schema.records import (
    Record,
    key,
)
from ...schema.values import (
    Count,
    Iterations,
    Latitude,
    Longitude,
    Temperature,
    instant,
)
from .names import BUILTIN
from .profile import ProfileName, wanted_value, with_profile

_ITERATIONS = 5


def _asks_no_service(route: ResponseRule, folder: FilePath) -> bool:
    if route.llm is None or route.model is None:
        return route.llm is None and route.model is None
    if route.llm == "scripted":
        return is_inside_folder(route.model, folder)
    return route.llm == "offline"


def _has_no_builtin(names: Any, _folder: FilePath) -> bool:
    return names is None or not any(name.startswith(BUILTIN) for name in names)


Passages = Annotated[int, Limits(1, 50)]


class ResponseMatch(Record, unknown="ignore"):
    """When a route applies: all of its conditions must hold."""

    intent_regexp: str | None = key(
        "RE2 pattern to search in the user's message: plain, /in slashes/ or /ignoring case/i.",
        check=intent_pattern,
        default=None,
        inert=CHOICE,
    )
    service: str | None = key("The service that the message is for.", default=None, inert=CHOICE)
    profile: dict[ProfileName, Annotated[Any, AfterValidator(wanted_value)]] = key(
        "What the caller's profile must have, by name: a text, a number or true or false; of a list, one of "
        "its values. The names may also stand beside intent_regexp.",
        factory=dict,
        inert=CHOICE,
    )


class WebSearch(Record):
    """Settings of the provider's own web search, builtin:web_search."""

    allowed_domains: tuple[str, ...] | None = key("Only pages of these hosts are found.", default=None)
    blocked_domains: tuple[str, ...] | None = key("No pages of these hosts are found.", default=None)
    country: str | None = key("The user's country, two letters as ISO 3166-1 has them.", default=None)
    region: str | None = key("The user's region.", default=None)
    city: str | None = key("The user's city.", default=None)
    timezone: str | None = key("The user's time zone, by its IANA name.", default=None)
    latitude: Latitude | None = key("The user's place in degrees, with longitude.", default=None)
    longitude: Longitude | None = key("The user's place in degrees, with latitude.", default=None)
    language: str | None = key("The user's language, such as de.", default=None)
    start_time: str | None = key(
        "Only what is not older, a day or a time of ISO 8601, with end_time.", check=instant, default=None
    )
    end_time: str | None = key(
        "Only what is older, a day or a time of ISO 8601, with start_time.", check=instant, default=None
    )
    max_uses: Count | None = key("Most searches in one answer.", default=None)


class ResponseTools(Record):
    """The tools that a route offers. A route without them offers none."""

    enabled: bool = key("Whether the route offers tools.", default=True, inert=CHOICE)
    allowed_tools: tuple[str, ...] | None = key(
        "Names of the tools to offer; all of them when absent, none when the list is empty. builtin:NAME is "
        "one of the provider's own tools, such as builtin:web_search.",
        default=None,
        inert=Inert("it names inert tools", _has_no_builtin),
    )
    web_search: WebSearch | None = key(
        "Settings of builtin:web_search, where the provider takes them.", default=None
    )
    max_iterations: Iterations | None = key(
        "In how many turns the model may call tools; tools.max_iterations when absent.",
        default=None,
        inert=at_most(_ITERATIONS),
    )


class ResponseRag(Record):
    """What of the documents fills {{rag_context}} of a prompt."""

    collection: str | None = key(
        "The collection of services.collections that is searched; all of them when absent.",
        default=None,
        inert=CHOICE,
    )
    max_results: Passages = key("Most passages.", default=5, inert=CHOICE)


class ResponseRule(Record):
    """A route: the model that answers, its prompt and its tools."""

    inert = Inert("its model is the offline one, a script in the folder, or the user's own", _asks_no_service)

    match: Annotated[ResponseMatch, BeforeValidator(with_profile)] = key(
        "When the route applies; empty means always.", factory=ResponseMatch.initial, inert=PARTS
    )
    llm: str | None = key("The provider, such as openai or ollama.", default=None, inert=CHOICE)
    model: str | None = key(
        "The model's name at the provider; best is the cheapest model, of llm's where that is given, that is "
        "validated with the tools.",
        default=None,
        inert=CHOICE,
    )
    prompt: str | None = key(
        "Template of the prompt, with {{user_message}}, {{rag_context}}, {{previous_messages}}, and names of "
        "the caller's profile.",
        default=None,
        inert=DATA,
    )
    rag: ResponseRag = key("The documents for {{rag_context}}.", factory=ResponseRag.initial, inert=PARTS)
    max_tokens: Count | None = key("Most tokens in one reply.", default=None, inert=CHOICE)
    temperature: Temperature | None = key("The sampling temperature.", default=None, inert=CHOICE)
    reasoning: Literal["none", "low", "medium", "high"] | None = key(
        "How much the model thinks before it answers; the model's own default when absent.",
        default=None,
        inert=CHOICE,
    )
    tools: ResponseTools | None = key(
        "Which tools the route offers: none when absent, all of them for {enabled: true}.",
        default=None,
        inert=PARTS,
    )
