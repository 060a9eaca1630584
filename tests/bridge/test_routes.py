from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_bridge.errors import UsageError
from toolspan_bridge.messages import Assistant, ToolResults, User
from toolspan_bridge.routes import (
    Passages,
    Profile,
    PromptValues,
    Route,
    previous_text,
    profile_of,
    route,
    system_text,
    toolless_notes,
    unknown_tools,
)
from toolspan_server.config import Config

pytestmark = pytest.mark.requirement("I2.6.4")

WEATHER = {
    "match": {"intent_regexp": "/(weather|forecast)/"},
    "llm": "openai",
    "model": "gpt-4o",
    "prompt": "You are a helpful weather assistant.\n\nUser: {{user_message}}",
    "tools": {"enabled": True, "allowed_tools": ["get_weather", "calculate"], "max_iterations": 3},
}
DOCS = {
    "match": {"service": "technical_docs"},
    "llm": "ollama",
    "model": "llama3.2:3b",
    "prompt": "Answer based on documentation.\n\n{{rag_context}}\n\nUser: {{user_message}}",
    "max_tokens": 100,
    "temperature": 0.2,
    "tools": {"enabled": False},
}


def config(*rules: Any, **tools: Any) -> Config:
    return Config.model_validate({"responses": rules, "tools": tools})


def test_the_first_matching_rule_says_model_prompt_tools_and_limits() -> None:
    assert route(config(WEATHER, DOCS), "the weather in Paris?") == Route(
        system="You are a helpful weather assistant.",
        model="openai/gpt-4o",
        allowed_tools=("get_weather", "calculate"),
        max_iterations=3,
    )


def test_a_service_rule_matches_the_given_service_only() -> None:
    found = route(config(WEATHER, DOCS), "how?", service="technical_docs")
    assert (found.model, found.system) == ("ollama/llama3.2:3b", "Answer based on documentation.")
    assert (found.max_tokens, found.temperature, found.tools_enabled) == (100, 0.2, False)
    assert route(config(DOCS), "how?") == Route()
    assert route(config(DOCS), "how?", service="other") == Route()


def test_without_a_match_the_config_s_limits_hold_and_every_tool_is_there() -> None:
    assert route(config(WEATHER, max_iterations=7), "2+2") == Route(max_iterations=7)


def test_a_rule_without_a_limit_takes_the_config_s() -> None:
    rule = {"match": {"intent_regexp": "x"}, "tools": {"allowed_tools": ["t"]}}
    assert route(config(rule, max_iterations=9), "x").max_iterations == 9


@pytest.mark.parametrize(
    ("pattern", "message", "matches"),
    [
        ("/weather/", "Weather?", False),
        ("/weather/i", "Weather?", True),
        ("weather", "the weather", True),
        ("(?i)weather", "WEATHER", True),
        ("/^/api/v1$/", "/api/v1", True),
        ("/a.b/", "a\nb", False),
    ],
)
def test_a_pattern_is_plain_or_between_slashes(pattern: str, message: str, matches: bool) -> None:
    found = route(config({"match": {"intent_regexp": pattern}, "max_tokens": 1}), message)
    assert (found.max_tokens == 1) is matches


def test_every_condition_of_a_rule_must_hold() -> None:
    rule = {"match": {"intent_regexp": "x", "service": "s"}, "max_tokens": 1}
    assert route(config(rule), "x", service="s").max_tokens == 1
    assert route(config(rule), "y", service="s").max_tokens is None
    assert route(config(rule), "x").max_tokens is None


def test_a_rule_without_conditions_matches_everything() -> None:
    assert route(config({"max_tokens": 1}), "anything").max_tokens == 1


def test_a_hostile_pattern_takes_no_time() -> None:
    assert (
        route(config({"match": {"intent_regexp": "(a+)+$"}, "max_tokens": 1}), "a" * 5_000 + "!") == Route()
    )


def test_a_pattern_that_is_none_is_named_with_its_place() -> None:
    made = config(WEATHER)
    broken = made.responses[0].match.model_copy(update={"intent_regexp": "/(?=x)/"})
    rule = made.responses[0].model_copy(update={"match": broken})
    with pytest.raises(
        UsageError, match=r"\$\.responses\[0\]\.match\.intent_regexp: '/\(\?=x\)/' is not an RE2"
    ):
        route(made.model_copy(update={"responses": (rule,)}), "x")


@pytest.mark.parametrize(
    ("prompt", "system"),
    [
        ("", ""),
        ("{{user_message}}", ""),
        ("Be kind.\n\nUser: {{ user_message }}\n", "Be kind."),
        ("A.\n{{rag_context}}\nB.", "A.\n\nB."),
        ("Translate {{user_message}} into French.", "Translate the user's message into French."),
        ("{{previous_messages}}", ""),
    ],
)
def test_the_prompt_becomes_the_system_text_and_the_message_stays_the_user_s(
    prompt: str, system: str
) -> None:
    assert system_text(prompt) == system


@given(st.text())
def test_no_prompt_leaves_a_known_placeholder_behind(prompt: str) -> None:
    assert "{{user_message}}" not in system_text(prompt + "{{user_message}}")


def test_a_route_makes_the_question() -> None:
    asked = route(config(WEATHER), "weather").question("weather?", "gpt-4o")
    assert (asked.text, asked.model, asked.max_iterations) == ("weather?", "gpt-4o", 3)
    assert asked.allowed_tools == ("get_weather", "calculate")
    assert Route(tools_enabled=False).question("x", "m").allowed_tools == ()


def test_allowed_tools_that_no_server_has_are_told_with_the_known_ones() -> None:
    told = unknown_tools(config(WEATHER, DOCS), ["get_weather", "other"])
    assert told == ["$.responses[0].tools.allowed_tools: no tool 'calculate' (known: get_weather, other)"]


@pytest.mark.requirement("I12.5.30")
@pytest.mark.parametrize(
    ("match", "profile", "matches"),
    [
        ({"tier": "gold"}, {"tier": "gold"}, True),
        ({"tier": "gold"}, {"tier": "tin"}, False),
        ({"tier": "gold"}, {}, False),
        ({"tier": ["gold", "silver"]}, {"tier": "silver"}, True),
        ({"seats": 5}, {"seats": "5"}, True),
        ({"beta": True}, {"beta": "true"}, True),
        ({"tier": "gold", "service": "s"}, {"tier": "gold"}, False),
        ({"tier": "gold", "service": "s"}, {"tier": "gold", "service": "s"}, True),
        ({"profile": {"service-area": "x"}}, {"service-area": "x"}, True),
        ({"group": "admin"}, {"group": ("dev", "admin")}, True),
        ({"group": ["ops", "admin"]}, {"group": ("dev", "admin")}, True),
        ({"group": "ops"}, {"group": ("dev", "admin")}, False),
        ({"group": "ops"}, {"group": ()}, False),
    ],
)
def test_any_key_of_a_match_is_compared_with_the_caller_s_profile(
    match: Any, profile: Profile, matches: bool
) -> None:
    found = route(config({"match": match, "max_tokens": 1}), "x", profile=profile)
    assert (found.max_tokens == 1) is matches


@pytest.mark.requirement("I12.5.30")
def test_a_profile_is_made_of_claims() -> None:
    claims = {"sub": "ann", "seats": 5, "beta": False, "groups": ["a", 2, {}], "none": None}
    assert profile_of(claims) == {"sub": "ann", "seats": "5", "beta": "false", "groups": ("a", "2")}


@pytest.mark.requirement("I12.5.31")
def test_a_prompt_is_filled_from_the_profile_the_documents_and_the_conversation() -> None:
    rule = {
        "match": {"name": ["Ann", "Bob"]},
        "prompt": "You talk with {{name}} in {{language}}.\n{{rag_context}}\n{{previous_messages}}",
        "rag": {"collection": "docs", "max_results": 2},
    }
    made = Config.model_validate({"responses": [rule], "profile": {"language": "English"}})
    talk = [User("hi"), Assistant("hello"), ToolResults(())]
    values = PromptValues(rag_context="Facts.", previous_messages=previous_text(talk))
    found = route(made, "x", profile={"name": "Ann"}, values=values)
    assert found.system == "You talk with Ann in English.\nFacts.\nUser: hi\nAssistant: hello"
    assert found.passages == Passages("docs", 2)
    german = route(made, "x", profile={"name": "Ann", "language": "German"})
    assert german.system == "You talk with Ann in German."


@pytest.mark.requirement("I12.5.31")
def test_several_values_of_a_name_are_a_list_in_the_prompt() -> None:
    made = config({"match": {"group": "admin"}, "prompt": "A member of {{group}} asks."})
    found = route(made, "x", profile={"group": ("dev", "admin")})
    assert found.system == "A member of dev, admin asks."


@pytest.mark.requirement("I12.5.31")
def test_what_a_prompt_wants_of_the_profile_and_is_not_there_is_an_error() -> None:
    made = Config.model_validate({"responses": [{"prompt": "Hello {{name}}."}], "profile": {"name": None}})
    with pytest.raises(UsageError, match=r"wants \{\{name\}\}.*--profile name="):
        route(made, "x")


@pytest.mark.requirement("I12.5.33")
def test_tools_that_are_off_are_not_complained_about() -> None:
    tool = {"name": "look", "description": "Looks.", "implementation": {"type": "mock", "mock_response": 1}}
    rule = {"tools": {"allowed_tools": ["look"]}}
    off = Config.model_validate({"responses": [rule], "tools": {"enabled": False, "registry": [tool]}})
    assert unknown_tools(off, []) == []
    alone = {"tools": {"enabled": False, "allowed_tools": ["gone"]}}
    assert unknown_tools(config(alone), []) == []


@pytest.mark.requirement("I24.6.5")
@pytest.mark.parametrize(
    ("tools", "offered", "is_noted"),
    [
        (None, (), True),
        ({"allowed_tools": []}, (), True),
        ({"enabled": False}, (), False),
        ({"enabled": False, "allowed_tools": ["a"]}, (), False),
        ({}, None, False),
        ({"enabled": True}, None, False),
        ({"allowed_tools": ["a"]}, ("a",), False),
    ],
)
def test_a_route_offers_the_tools_that_it_says_and_none_where_it_says_nothing(
    tools: dict[str, Any] | None, offered: tuple[str, ...] | None, is_noted: bool
) -> None:
    config = Config.model_validate({"responses": [{} if tools is None else {"tools": tools}]})
    assert route(config, "hello").question("hello", "m").allowed_tools == offered
    notes = toolless_notes(config)
    assert [note.startswith("$.responses[0]") for note in notes] == [True] * is_noted
    assert route(Config.model_validate({}), "hello").question("hello", "m").allowed_tools is None


@pytest.mark.requirement("I24.6.5")
def test_a_config_of_the_seed_documents_shape_is_told_what_differs() -> None:
    rule = {"match": {"intent_regexp": "/weather/"}, "llm": "openai", "model": "gpt-4o"}
    config = {"responses": [{**rule, "tools": {"enabled": True, "allowed_tools": []}}, rule]}
    empty, absent = toolless_notes(Config.model_validate(config))
    assert "leave it out to offer all" in empty and "tools: {enabled: true}" in absent
