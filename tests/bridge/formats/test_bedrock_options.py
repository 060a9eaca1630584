"""How a model behind Converse is asked to answer, by family: effort, the answer's schema, cache points."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.outcomes import succeeded
from tests.support.provider_rules.bedrock import check_request
from toolspan_bridge.formats import bedrock
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Assistant, Request, ToolCall, ToolResults, ToolSpec, User

TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
OLD = "us.anthropic.claude-3-7-sonnet-20250219-v1:0"
CLAUDE = "us.anthropic.claude-sonnet-4-6"
NEWEST = "global.anthropic.claude-opus-5-5-v1:0"
NOVA = "us.amazon.nova-pro-v1:0"
NOVA_2 = "us.amazon.nova-2-lite-v1:0"
OSS = "openai.gpt-oss-120b-1:0"
LLAMA = "us.meta.llama3-3-70b-instruct-v1:0"
POINT = {"cachePoint": {"type": "default"}}


def request(model: str, **fields: Any) -> Request:
    return Request(**{"model": model, "messages": (User("hi"),), **fields})


def rendered(model: str, **fields: Any) -> dict[str, Any]:
    asked = request(model, **fields)
    body = bedrock.render_request(asked, NameTable.of(asked.tools))
    check_request(body, model)
    return body


def own(body: dict[str, Any]) -> Any:
    return body.get("additionalModelRequestFields")


@pytest.mark.requirement("I11.3.1")
def test_the_effort_is_said_in_each_family_s_words() -> None:
    assert own(rendered(OLD, reasoning="low")) == {"thinking": {"type": "enabled", "budget_tokens": 2048}}
    adaptive = rendered(CLAUDE, reasoning="high")
    assert own(adaptive)["thinking"]["type"] == "adaptive"
    assert adaptive["outputConfig"] == {"effort": "high"}
    assert own(rendered(NOVA_2, reasoning="medium")) == {
        "reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}
    }
    assert own(rendered(OSS, reasoning="high")) == {"reasoning_effort": "high"}
    assert own(rendered(OSS, reasoning="none")) == {"reasoning_effort": "low"}
    for model in (NOVA, LLAMA):
        assert own(rendered(model, reasoning="high")) is None
    for model in (OLD, NOVA_2, OSS, LLAMA):
        assert own(rendered(model)) is None


@pytest.mark.requirement("I11.3.1")
@pytest.mark.parametrize(
    ("model", "effort", "note"),
    [
        (NOVA, "low", f"{NOVA} takes no effort of reasoning: 'low' is left out"),
        (LLAMA, "high", f"{LLAMA} takes no effort of reasoning: 'high' is left out"),
        (OSS, "none", f"{OSS} always thinks: its effort is 'low'"),
        (NOVA_2, "high", f"{NOVA_2} takes no maxTokens and no temperature with the effort 'high': left out"),
        (LLAMA, "none", ""),
        (NOVA_2, "medium", ""),
    ],
)
def test_what_a_family_does_not_take_is_told_of(model: str, effort: Any, note: str) -> None:
    asked = {"reasoning": effort, "max_tokens": 9, "temperature": 0.5}
    assert bedrock.request_notes(request(model, **asked)) == ((note,) if note else ())
    left_out = model == NOVA_2 and effort == "high"
    assert ("inferenceConfig" in rendered(model, **asked)) is not left_out


@pytest.mark.requirement("I11.3.1")
def test_a_claude_that_takes_no_temperature_gets_none() -> None:
    assert "inferenceConfig" not in rendered(NEWEST, temperature=0.5)
    (note,) = bedrock.request_notes(request(NEWEST, temperature=0.5))
    assert "takes no temperature" in note
    assert rendered(CLAUDE, temperature=0.5)["inferenceConfig"] == {"temperature": 0.5}


@pytest.mark.requirement("I11.3.1")
def test_a_model_that_thinks_is_asked_to_call_instead_of_being_made_to() -> None:
    for model in (OLD, NEWEST):
        body = rendered(model, reasoning="high", tools=(TOOL,), tool_choice="required")
        assert body["toolConfig"]["toolChoice"] == {"auto": {}}
        assert "Answer by calling one of the tools." in json.dumps(body["system"])


@pytest.mark.requirement("I11.3.4")
@pytest.mark.parametrize(
    ("model", "schema", "taken"),
    [
        (NEWEST, SCHEMA, True),
        (CLAUDE, SCHEMA, True),
        (OLD, SCHEMA, False),
        (NOVA, SCHEMA, False),
        (LLAMA, SCHEMA, False),
        (CLAUDE, {"type": "array"}, False),
    ],
)
def test_the_schema_of_the_answer_is_sent_where_the_family_takes_it(
    model: str, schema: dict[str, Any], taken: bool
) -> None:
    assert bedrock.takes_answer_schema(request(model, answer_schema=schema)) is taken
    output = rendered(model, answer_schema=schema).get("outputConfig", {})
    assert ("textFormat" in output) is taken
    if taken:
        definition = output["textFormat"]["structure"]["jsonSchema"]
        assert json.loads(definition["schema"]) == SCHEMA


@pytest.mark.requirement("I11.3.21")
def test_cache_points_stand_where_the_family_takes_them() -> None:
    begun = {"system": "Be brief.", "tools": (TOOL,)}
    claude = rendered(CLAUDE, **begun)
    assert claude["toolConfig"]["tools"][-1] == claude["system"][-1] == POINT
    assert claude["messages"][-1]["content"][-1] == POINT
    nova = rendered(NOVA, **begun)
    assert nova["system"][-1] == POINT
    assert json.dumps(nova).count("cachePoint") == 1
    assert "cachePoint" not in json.dumps(rendered(LLAMA, **begun))
    assert "cachePoint" not in json.dumps(rendered("anthropic.claude-3-haiku-20240307-v1:0", **begun))


@pytest.mark.requirement("I11.3.21")
def test_nothing_is_cached_that_is_not_likely_to_be_sent_again() -> None:
    assert "cachePoint" not in json.dumps(rendered(CLAUDE, system="Be brief."))
    assert "cachePoint" not in json.dumps(rendered(CLAUDE, tools=(TOOL,), cache=False))
    goes_on = (User("hi"), Assistant("Yes?"), User("And?"))
    assert "cachePoint" in json.dumps(rendered(CLAUDE, messages=goes_on))


@pytest.mark.requirement("I11.3.21")
def test_a_cache_point_follows_results() -> None:
    call = ToolCall("c1", "s__t", {})
    history = (User("hi"), Assistant("", (call,)), ToolResults((succeeded(structured={"a": 1}),)))
    kinds = [
        next(iter(block))
        for block in rendered(CLAUDE, messages=history, tools=(TOOL,))["messages"][2]["content"]
    ]
    assert kinds == ["toolResult", "cachePoint"]
