"""``offline/keyword``: which tools it picks, with which arguments, and what it says afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.seed_tools import CALCULATE, SEARCH, SEED_TOOLS, WEATHER
from toolspan_bridge.errors import UnknownModelError
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Reply,
    Request,
    ToolCall,
    ToolChoice,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
)
from toolspan_bridge.providers import DEFAULT_MODEL, resolve_model
from toolspan_bridge.providers.catalog.offline._pick import pick

pytestmark = pytest.mark.anyio

NO_MODEL = "it is no language model"


async def ask(
    *messages: Message, tools: tuple[ToolSpec, ...] = SEED_TOOLS, tool_choice: ToolChoice = "auto"
) -> Reply:
    provider, model = resolve_model(DEFAULT_MODEL)
    return await provider.answer(Request(model, messages, tools=tools, tool_choice=tool_choice))


def picked(question: str, *tools: ToolSpec) -> list[tuple[str, Mapping[str, Any]]]:
    return [(found.tool.name, found.arguments) for found in pick(question, tools or SEED_TOOLS)]


def tool(name: str, description: str, properties: dict[str, Any], *required: str) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec("any", name, description, schema)


@pytest.mark.requirement("I2.8.5", "I2.6.3")
@pytest.mark.parametrize(
    ("question", "name", "arguments"),
    [
        ("What's the weather in Paris?", "get_weather", {"location": "Paris"}),
        ("Calculate 15% tip on $45", "calculate", {"expression": "45 * 15 / 100"}),
        ("What's 2+2?", "calculate", {"expression": "2+2"}),
        ("Search for Python decorators in the docs", "search_documents", {"query": "Python decorators"}),
    ],
)
async def test_the_default_suites_questions_get_their_tool_and_arguments(
    question: str, name: str, arguments: dict[str, Any]
) -> None:
    reply = await ask(User(question))
    (call,) = reply.message.calls
    assert (call.name, call.arguments) == (f"config__{name}", arguments)


@pytest.mark.requirement("I2.8.5")
@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("What's the weather in Paris?", WEATHER),
        ("Calculate 15% tip on $45", CALCULATE),
        ("What's 2+2?", CALCULATE),
        ("Search for Python decorators in the docs", SEARCH),
    ],
)
def test_it_knows_no_tool_by_name(question: str, chosen: ToolSpec) -> None:
    renamed = [replace(each, name=f"t{number}") for number, each in enumerate(SEED_TOOLS)]
    assert [name for name, _ in picked(question, *renamed)] == [f"t{SEED_TOOLS.index(chosen)}"]


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        (
            "what is the weather in new york today in fahrenheit",
            {"location": "new york", "units": "fahrenheit"},
        ),
        ("Weather for San Francisco, CA please", {"location": "San Francisco, CA"}),
        ("Paris weather please", {"location": "Paris"}),
        ("weather", {}),
    ],
)
def test_places_and_options_are_filled_where_the_question_names_them(
    question: str, arguments: dict[str, Any]
) -> None:
    assert picked(question) == [("get_weather", arguments)]


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("What do the docs say about asyncio?", {"query": "asyncio"}),
        ("Search 'context managers', at most 3 results", {"query": "context managers", "max_results": 3}),
        (
            "Search for tool timeouts, collection guides",
            {"query": "tool timeouts, collection guides", "collection": "guides"},
        ),
    ],
)
def test_a_search_gets_the_topic_and_optional_parameters_only_when_named(
    question: str, arguments: dict[str, Any]
) -> None:
    assert picked(question) == [("search_documents", arguments)]


@pytest.mark.parametrize("question", ["Tell me a joke", "hello", "Who are you?", "", "?!"])
async def test_a_question_that_no_tool_speaks_of_gets_no_call_and_an_honest_answer(question: str) -> None:
    reply = await ask(User(question))
    assert reply.message.calls == ()
    assert NO_MODEL in reply.message.text
    assert "get_weather" in reply.message.text


def test_a_question_of_several_parts_gets_a_call_for_each() -> None:
    assert picked("What's the weather in Tokyo and what is 12 times 7?") == [
        ("get_weather", {"location": "Tokyo"}),
        ("calculate", {"expression": "12 * 7"}),
    ]
    assert picked("weather in Paris; weather in London") == [
        ("get_weather", {"location": "Paris"}),
        ("get_weather", {"location": "London"}),
    ]


def test_an_and_within_one_part_makes_no_second_call() -> None:
    assert [name for name, _ in picked("Search the docs for names and scopes")] == ["search_documents"]


BOOKING = tool(
    "book_train",
    "Book a train ticket",
    {
        "origin": {"type": "string", "description": "Station to leave from"},
        "destination": {"type": "string", "description": "Station to go to"},
        "date": {"type": "string", "format": "date"},
        "seats": {"type": "integer", "description": "How many seats"},
        "class": {"$ref": "#/$defs/class"},
        "quiet": {"type": "boolean"},
        "meal": {"type": "boolean"},
    },
    "origin",
    "destination",
    "date",
    "seats",
)
BOOKING = replace(BOOKING, schema={**BOOKING.schema, "$defs": {"class": {"enum": ["first", "second"]}}})


def test_arguments_are_filled_by_the_schema_of_any_tool() -> None:
    question = (
        "Book a train from New York to Boston on 2026-12-24, 3 seats in first class, quiet, without meal"
    )
    assert picked(question, BOOKING) == [
        (
            "book_train",
            {
                "origin": "New York",
                "destination": "Boston",
                "date": "2026-12-24",
                "seats": 3,
                "class": "first",
                "quiet": True,
                "meal": False,
            },
        )
    ]


def test_numbers_go_to_the_parameters_that_stand_next_to_them() -> None:
    area = tool(
        "triangle_area",
        "Area of a triangle",
        {"base": {"type": "number"}, "height": {"type": "number"}, "unit": {"type": "string"}},
        "base",
        "height",
    )
    question = "What is the area of a triangle with height 5.5 and base of 1,200?"
    assert picked(question, area) == [("triangle_area", {"base": 1200, "height": 5.5})]


@pytest.mark.parametrize(
    ("schema", "question", "value"),
    [
        ({"type": "string", "format": "email"}, "Send it to ann@example.org now", "ann@example.org"),
        (
            {"type": "string", "format": "uri"},
            "Send https://example.org/a?b=1 away",
            "https://example.org/a?b=1",
        ),
        ({"type": "array", "items": {"type": "number"}}, "Send 3, 4.5 and 6", [3, 4.5, 6]),
        ({"type": "array", "items": {"enum": ["red", "blue"]}}, "Send blue and red", ["red", "blue"]),
        ({"type": "array", "items": {"type": "string"}}, 'Send "one" and "two"', ["one", "two"]),
        ({"type": ["integer", "null"]}, "Send 7", 7),
        ({"type": "integer"}, "Send 7.5", None),
        ({"const": "x"}, "Send it", "x"),
        ({"type": "boolean"}, "Send it", False),
        (
            {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]},
            "Send 4",
            {"count": 4},
        ),
        (True, "Send word", "word"),
    ],
)
def test_each_type_of_required_parameter_is_tried(schema: Any, question: str, value: Any) -> None:
    ((_, arguments),) = picked(question, tool("send", "Send things", {"thing": schema}, "thing"))
    assert arguments == ({} if value is None else {"thing": value})


async def test_after_results_it_answers_from_them_and_says_what_it_is() -> None:
    reply = await ask(*after({"success": True, "result": {"temperature": 22, "feels_like": "sunny"}}))
    assert reply.message.calls == ()
    assert "get_weather: temperature 22, feels like sunny" in reply.message.text
    assert NO_MODEL in reply.message.text


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"result": 6.75}, "get_weather: 6.75"),
        ("plain", "get_weather: plain"),
        (None, "get_weather: null"),
        ([], "get_weather: nothing found"),
        ([{"source": "a.md", "score": 1}] * 7, "- source: a.md, score: 1\n- and 2 more"),
        ({"a": [], "b": {"c": True}}, "a none, b c: true"),
        ("x" * 5000, "(cut; 5,000 characters in all)"),
    ],
)
async def test_results_of_any_shape_are_told_in_short(result: Any, shown: str) -> None:
    reply = await ask(*after({"success": True, "result": result}))
    assert shown in reply.message.text


async def test_a_failed_call_is_told_in_the_tools_own_words_and_not_repeated() -> None:
    reply = await ask(*after({"success": False, "error": "no such place", "user_action": "check the name"}))
    assert reply.message.calls == ()
    assert "get_weather: failed: no such place (check the name)" in reply.message.text


async def test_a_further_question_is_picked_anew_with_fresh_call_ids() -> None:
    earlier = after({"success": True, "result": 1})
    reply = await ask(*earlier, Assistant("1"), User("What's 2+2?"))
    (call,) = reply.message.calls
    assert (call.id, call.name) == ("call_2", "config__calculate")


async def test_the_call_is_named_as_the_name_table_says() -> None:
    awkward = tool("what is the wéather", "Weather of a place", {"place": {"type": "string"}}, "place")
    reply = await ask(User("weather in Paris"), tools=(awkward,))
    assert NameTable.of([awkward]).tool(reply.message.calls[0].name) == awkward


async def test_tool_choice_is_obeyed() -> None:
    assert (await ask(User("What's 2+2?"), tool_choice="none")).message.calls == ()
    assert len((await ask(User("Tell me a joke"), tool_choice="required")).message.calls) == 1
    assert "there are no tools here" in (await ask(User("What's 2+2?"), tools=())).message.text


def test_it_has_one_model_only() -> None:
    with pytest.raises(UnknownModelError, match="offline/keyword"):
        resolve_model("offline/gpt")


def after(result: dict[str, Any]) -> tuple[Message, ...]:
    call = ToolCall("call_1", "config__get_weather", {"location": "Paris"})
    outcome = ToolOutcome("call_1", "get_weather", result)
    return (User("What's the weather in Paris?"), Assistant(calls=(call,)), ToolResults((outcome,)))


_SCHEMAS = st.recursive(
    st.sampled_from(
        [
            True,
            {},
            {"type": "string"},
            {"type": "integer"},
            {"type": "array"},
            {"enum": []},
            {"enum": [1, None]},
        ]
        + [{"type": "string", "description": d} for d in ("city", "math expression", "a date", "file path")]
        + [{"$ref": "#/$defs/none"}, {"type": 5}, {"enum": "x"}]
    ),
    lambda inner: st.builds(
        lambda each: {"type": "object", "properties": each, "required": list(each)},
        st.dictionaries(st.sampled_from(["a", "to", "query", "from_city", ""]), inner, max_size=3),
    ),
)


@given(question=st.text(max_size=200), schema=_SCHEMAS)
def test_any_question_and_any_schema_give_the_same_calls_twice(question: str, schema: Any) -> None:
    tools = (ToolSpec("s", "a", "search the city", schema if isinstance(schema, dict) else {}), *SEED_TOOLS)
    assert pick(question, tools, always=True) == pick(question, tools, always=True)
