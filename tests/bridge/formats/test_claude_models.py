"""Each family of Claude gets only what it takes: thinking, effort, temperature, forced calls, marks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.outcomes import said, succeeded
from tests.support.provider_rules.anthropic import check_request
from tests.support.provider_rules.bedrock_anthropic import check_request as check_bedrock
from tests.support.wires.anthropic import THOUGHT, USE, message
from toolspan_bridge.formats import anthropic, bedrock_anthropic, request_notes
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Assistant, Request, ToolCall, ToolResults, ToolSpec, User, WireOptions

TOOL = ToolSpec("s", "weather", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
NAMES = NameTable.of((TOOL,))
MODELS = [
    "claude-2.1",
    "claude-3-haiku-20240307",
    "claude-3-5-sonnet-20241022",
    "claude-3-7-sonnet-20250219",
    "claude-opus-4-20250514",
    "claude-opus-4@20250514",
    "us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "claude-opus-4-5",
    "anthropic.claude-opus-4-6-v1",
    "claude-sonnet-4-6",
    "claude-opus-4-7",
    "claude-opus-5",
    "claude-opus-5-5",
    "claude-sonnet-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-fable-5-2",
    "claude-mythos-preview",
    "house-model",
]
SHOWN = {"type": "adaptive", "display": "summarized"}
CLOSED = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def body(model: str, *messages: Any, **options: Any) -> dict[str, Any]:
    asked = Request(model, messages or (User("hi"),), **{"tools": (TOOL,), **options})
    sent = anthropic.render_request(asked, NAMES)
    check_request(sent)
    check_bedrock(bedrock_anthropic.render_request(asked, NAMES), model)
    return sent


@pytest.mark.requirement("I11.1.11", "I11.3.1")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("reasoning", [None, "none", "low", "medium", "high"])
def test_each_family_takes_every_request(model: str, reasoning: Any) -> None:
    thought = anthropic.parse_reply(message(THOUGHT, USE, stop="tool_use")).message
    bare = Assistant("", (ToolCall("c1", "s__weather", {}),))
    answered = ToolResults((succeeded(said("7"), call_id="c1"),))
    for turn in (thought, bare):
        for choice in ("auto", "required", "none", ("s", "weather")):
            options = {"reasoning": reasoning, "tool_choice": choice, "answer_schema": CLOSED}
            body(model, User("hi"), turn, answered, temperature=0.5, **options)
            body(model, temperature=0.5, max_tokens=1500, wire=WireOptions(drop_unbound=True), **options)


@pytest.mark.requirement("I11.3.1")
@pytest.mark.parametrize(
    ("model", "reasoning", "thinking", "effort"),
    [
        ("claude-sonnet-4-5", None, None, None),
        ("claude-sonnet-4-5", "none", None, None),
        ("claude-sonnet-4-5", "low", {"type": "enabled", "budget_tokens": 2048}, None),
        ("claude-opus-4-7", None, None, None),
        ("claude-opus-4-7", "high", SHOWN, "high"),
        ("claude-opus-5", None, SHOWN, None),
        ("claude-opus-5", "none", {"type": "disabled"}, None),
        ("claude-opus-5", "medium", SHOWN, "medium"),
        ("claude-sonnet-5-5", "none", {"type": "between_tools"}, None),
        ("claude-opus-5-5", None, SHOWN, None),
        ("claude-opus-5-5", "none", SHOWN, "low"),
        ("claude-fable-6", "high", SHOWN, "high"),
        ("claude-3-haiku-20240307", "high", None, None),
        ("house-model", "high", None, None),
    ],
)
def test_the_effort_is_told_in_the_words_of_the_family(
    model: str, reasoning: Any, thinking: Any, effort: str | None
) -> None:
    sent = body(model, reasoning=reasoning)
    assert sent.get("thinking") == thinking
    assert sent.get("output_config", {}).get("effort") == effort


@pytest.mark.requirement("I11.3.1")
def test_a_budget_leaves_room_for_the_answer() -> None:
    def sent(**options: Any) -> tuple[int, int]:
        found = body("claude-sonnet-4-5", reasoning="high", **options)
        return found["thinking"]["budget_tokens"], found["max_tokens"]

    assert sent() == (16_384, 49_152)
    assert sent(max_tokens=4096) == (3072, 4096)
    small = Request("claude-sonnet-4-5", (User("hi"),), reasoning="high", max_tokens=2000)
    assert "thinking" not in anthropic.render_request(small, NAMES)
    assert "max_tokens of 2048" in request_notes("anthropic", small)[0]


@pytest.mark.requirement("I11.3.1")
def test_a_turn_that_began_without_a_thought_ends_without_one() -> None:
    bare = Assistant("", (ToolCall("c1", "s__weather", {}),))
    answered = ToolResults((succeeded(said("7"), call_id="c1"),))
    going_on = (User("hi"), bare, answered)
    assert "thinking" not in body("claude-sonnet-4-5", *going_on, reasoning="low")
    done = (*going_on, Assistant("Seven."), User("sure?"))
    assert body("claude-sonnet-4-5", *done, reasoning="low")["thinking"]["type"] == "enabled"


@pytest.mark.requirement("I11.1.11")
@pytest.mark.parametrize("name", ["anthropic", "bedrock-anthropic", "prompt:anthropic"])
def test_a_temperature_that_is_refused_is_left_out_with_a_note(name: str) -> None:
    def note(model: str, **options: Any) -> tuple[str, ...]:
        asked = Request(model, (User("hi"),), temperature=0.2, **options)
        assert ("temperature" in anthropic.render_request(asked, NAMES)) is not bool(
            request_notes(name, asked)
        )
        return request_notes(name, asked)

    assert note("claude-sonnet-4-6") == note("house-model") == ()
    left_out = "claude-opus-4-7 takes no temperature here: it is left out"
    assert note("claude-opus-4-7") == (left_out,)
    assert len(note("claude-sonnet-4-5", reasoning="low")) == 1


@pytest.mark.requirement("I11.1.11")
def test_a_model_that_is_never_forced_is_asked_to() -> None:
    asked = body("claude-fable-5-1", tool_choice=("s", "weather"), cache=False)
    assert asked["tool_choice"] == {"type": "auto"}
    assert asked["system"] == "Answer by calling the tool s__weather."
    assert body("claude-opus-5", tool_choice="required")["tool_choice"] == {"type": "any"}


@pytest.mark.requirement("I11.3.21")
def test_what_is_sent_again_is_cached() -> None:
    mark = {"type": "ephemeral"}
    model = "claude-sonnet-4-5"
    first = body(model, system="Be brief.")
    assert first["cache_control"] == mark
    assert first["system"] == [{"type": "text", "text": "Be brief.", "cache_control": mark}]
    assert body(model)["tools"][-1]["cache_control"] == mark
    assert "cache_control" not in str(body(model, tools=()))
    assert "cache_control" not in str(body(model, cache=False))
    assert "cache_control" not in str(body("house-model"))
    assert "cache_control" in body(model, User("hi"), Assistant("Hello."), User("and?"), tools=())


@pytest.mark.requirement("I11.3.21")
def test_bedrock_is_told_the_end_of_what_is_cached() -> None:
    thought = bedrock_anthropic.parse_reply(message(THOUGHT, USE, stop="tool_use")).message
    answered = ToolResults((succeeded(said("7"), call_id="c1"),))
    asked = Request("anthropic.claude-opus-5", (User("hi"), thought, answered), tools=(TOOL,))
    sent = bedrock_anthropic.render_request(asked, NAMES)
    check_bedrock(sent, asked.model)
    assert "cache_control" not in sent
    assert "cache_control" in sent["tools"][-1] and "cache_control" in sent["messages"][-1]["content"][-1]
    assert str(sent["messages"]).count("cache_control") == 1


@pytest.mark.requirement("I11.3.4")
def test_a_schema_of_the_answer_is_enforced_where_nothing_is_lost_by_it() -> None:
    def form(model: str, schema: Any, **options: Any) -> Any:
        asked = Request(model, (User("hi"),), answer_schema=schema, **options)
        sent = anthropic.render_request(asked, NAMES)
        check_request(sent)
        written = sent.get("output_config", {}).get("format")
        assert anthropic.takes_answer_schema(asked) is (written is not None)
        return written

    assert form("claude-sonnet-4-5", CLOSED) == {"type": "json_schema", "schema": CLOSED}
    assert form("claude-3-5-haiku-20241022", CLOSED) is None
    assert form("claude-sonnet-4-5", {"type": "array", "items": CLOSED}) is None
    assert form("claude-sonnet-4-5", {"anyOf": [CLOSED, {"type": "null"}]}) is None
    odd = {**CLOSED, "properties": {"my city": {"type": "string"}}, "required": ["my city"]}
    assert form("claude-sonnet-4-5", odd) is None
    assert form("claude-sonnet-4-5", CLOSED, builtins=("web_search",)) is None
    assert form("claude-sonnet-4-5", None) is None
