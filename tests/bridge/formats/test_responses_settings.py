"""Responses: effort, structured answers, caching, sampling, and OpenAI's own tools with their options."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.provider_rules.openai_responses import check_request
from tests.support.wires.openai_responses import event
from toolspan_bridge.formats import builtin_names, openai_responses, takes_answer_schema
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Request, User
from toolspan_bridge.messages.deltas import ReasoningDelta

QUESTION = (User("hi"),)
CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def asked(model: str = "gpt-5.5", **options: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The body, and the notes on what was left out of it."""
    request = Request(model, QUESTION, **options)
    body = openai_responses.render_request(request, NameTable.of(()))
    check_request(body)
    return body, openai_responses.fitted(request)[1]


@pytest.mark.requirement("I11.3.1")
@pytest.mark.parametrize(
    ("model", "efforts"),
    [
        ("gpt-5.5", ["none", "low", "medium", "high"]),
        ("gpt-5", ["minimal", "low", "medium", "high"]),
        ("gpt-6-astra", ["low", "low", "medium", "high"]),
        ("gpt-5-pro", ["high"] * 4),
        ("o4-mini", ["low", "low", "medium", "high"]),
        ("my-deployment", ["none", "low", "medium", "high"]),
    ],
)
def test_the_effort_is_the_nearest_that_the_model_takes(model: str, efforts: list[str]) -> None:
    for wanted, sent in zip(("none", "low", "medium", "high"), efforts, strict=True):
        body, notes = asked(model, reasoning=wanted)
        assert body["reasoning"] == {"effort": sent}
        assert bool(notes) == (wanted == "none" and sent != "none")
    assert "reasoning" not in asked(model)[0]


@pytest.mark.requirement("I11.3.1")
def test_a_model_that_does_not_reason_is_asked_for_no_effort_and_it_is_said() -> None:
    body, (note,) = asked("gpt-4o", reasoning="high")
    assert "reasoning" not in body and note == "The effort high is left out: gpt-4o takes none."
    assert asked("gpt-4o", reasoning="none")[1] == ()


@pytest.mark.requirement("I11.3.1")
def test_thoughts_are_summed_up_in_a_stream_that_was_told_to_think() -> None:
    assert asked(reasoning="low", stream=True)[0]["reasoning"] == {"effort": "low", "summary": "auto"}
    assert asked(reasoning="none", stream=True)[0]["reasoning"] == {"effort": "none"}
    parser = openai_responses.parse_stream()
    pieces = [
        event("response.reasoning_summary_part.added", output_index=0, summary_index=0, part={}),
        event("response.reasoning_summary_text.delta", output_index=0, summary_index=0, delta="One."),
        event("response.reasoning_summary_part.added", output_index=0, summary_index=1, part={}),
        event("response.reasoning_summary_text.delta", output_index=0, summary_index=1, delta="Two."),
    ]
    told = parser.feed(b"".join(pieces))
    assert told == [ReasoningDelta("One."), ReasoningDelta("\n\n"), ReasoningDelta("Two.")]


@pytest.mark.requirement("I11.3.4")
def test_the_schema_of_the_answer_is_strict_where_nothing_is_lost_by_it() -> None:
    body, _ = asked(answer_schema=CITY)
    assert body["text"]["format"] == {
        "type": "json_schema",
        "name": "answer",
        "schema": CITY,
        "strict": True,
    }
    optional: dict[str, Any] = {**CITY, "required": []}
    shape = asked(answer_schema=optional)[0]["text"]["format"]
    assert shape["strict"] is False and shape["schema"]["properties"] == CITY["properties"]


@pytest.mark.requirement("I11.3.4")
@pytest.mark.parametrize("schema", [{"type": "array", "items": CITY}, {"anyOf": [CITY, CITY]}])
def test_a_schema_that_cannot_be_sent_is_left_to_the_words(schema: dict[str, Any]) -> None:
    request = Request("gpt-5", QUESTION, answer_schema=schema)
    assert not takes_answer_schema("openai-responses", request)
    assert "text" not in asked(answer_schema=schema)[0]
    assert takes_answer_schema("openai-responses", Request("gpt-5", QUESTION, answer_schema=CITY))


@pytest.mark.requirement("I11.3.2")
def test_the_requests_of_a_conversation_share_a_key_of_the_cache() -> None:
    assert asked(conversation="talk-1")[0]["prompt_cache_key"] == "talk-1"
    assert len(asked(conversation="x" * 100)[0]["prompt_cache_key"]) == 64
    assert "prompt_cache_key" not in asked(conversation="talk-1", cache=False)[0] | asked()[0]


@pytest.mark.requirement("I11.1.11")
@pytest.mark.parametrize("model", ["gpt-5", "gpt-5.5-2026-04-23", "gpt-6-luna", "o3", "openai/gpt-5-mini"])
def test_the_temperature_is_left_out_for_models_that_refuse_it(model: str) -> None:
    body, (note,) = asked(model, temperature=0.2)
    assert "temperature" not in body
    assert note == f"The temperature is left out: {model} takes none."


@pytest.mark.requirement("I11.1.11")
@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-5.1-chat-latest", "my-deployment"])
def test_others_are_sent_the_temperature(model: str) -> None:
    assert asked(model, temperature=0.2)[0]["temperature"] == 0.2


@pytest.mark.requirement("I11.3.5")
def test_the_search_knows_where_the_user_is_and_which_sites_it_may_use() -> None:
    options = {
        "allowed_domains": ["example.com"],
        "blocked_domains": ["example.org"],
        "user_location": {"city": "Oslo", "country": "NO", "region": ""},
    }
    body, notes = asked(builtins=("web_search",), builtin_options={"web_search": options})
    assert body["tools"] == [
        {
            "type": "web_search",
            "filters": {"allowed_domains": ["example.com"]},
            "user_location": {"type": "approximate", "city": "Oslo", "country": "NO"},
        }
    ]
    assert notes == ("blocked_domains of web_search is left out: gpt-5.5 has no such option.",)
    assert asked(builtins=("web_search",))[0]["tools"] == [{"type": "web_search"}]


@pytest.mark.requirement("I11.3.5")
def test_code_is_run_in_a_container_of_the_providers_and_what_it_does_not_have_is_left_out() -> None:
    body, _ = asked(builtins=("code_execution", "code_execution", "image_generation"))
    assert body["tools"] == [{"type": "code_interpreter", "container": {"type": "auto"}}]
    assert builtin_names("openai-responses") == {"code_execution", "web_search"}


@pytest.mark.requirement("I11.1.13")
@pytest.mark.parametrize("model", ["gpt-4.1-nano", "gpt-4", "gpt-3.5-turbo", "o3-mini"])
def test_a_model_without_search_is_not_sent_it(model: str) -> None:
    body, (note,) = asked(model, builtins=("web_search",))
    assert "tools" not in body and note == f"web_search is left out: {model} has none."


@pytest.mark.requirement("I11.1.13")
def test_a_search_needs_more_than_the_least_effort() -> None:
    assert asked("gpt-5", reasoning="none", builtins=("web_search",))[0]["reasoning"] == {"effort": "low"}
