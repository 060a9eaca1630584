"""Effort, schema of the answer, cache key and other options: each row gets them as it takes them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, checks
from tests.support.provider_cases import ask, stream
from tests.support.wires.openai import answer, frames
from toolspan_bridge.messages import Reply
from toolspan_bridge.providers.compatible.rows import row_names, row_of

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.3.10")]

KEY = "sk-test-0123456789"
CHAT = [name for name in row_names() if "openai" in (row_of(name).format, row_of(name).other)]
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
FIELDS = ("reasoning_effort", "reasoning", "thinking")


async def sent(
    monkeypatch: pytest.MonkeyPatch, model: str, *, streamed: bool = False, **options: Any
) -> tuple[dict[str, Any], Reply]:
    """The request for ``model``, which its strict fake takes, and the reply."""
    row, _, _ = model.partition("/")
    about = row_of(row)
    reply = Sent(answer("Hi"))
    if streamed:
        reply = Sent(frames=frames("Hi"), headers={"content-type": "text/event-stream"})
    with FakeProvider(checks.openai(KEY, limit=about.limit, row=row), [reply]) as fake:
        monkeypatch.setenv(about.key, KEY)
        monkeypatch.setenv(about.base, f"{fake.url}/v1")
        got = (await stream(model, **options))[1] if streamed else await ask(model, **options)
    return fake.received[0].body, got


def effort_in(body: dict[str, Any]) -> dict[str, Any]:
    return {key: body[key] for key in FIELDS if key in body}


@pytest.mark.long
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("row", CHAT)
async def test_every_row_takes_all_options_at_once(
    row: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for effort in ("none", "low", "medium", "high"):
        for tools in ({}, {"tools": ()}):
            await sent(
                monkeypatch,
                f"{row}/m",
                streamed=streamed,
                reasoning=effort,
                answer_schema=SCHEMA,
                conversation="c1",
                tool_choice="required",
                parallel=False,
                builtins=("web_search",),
                temperature=0.5,
                max_tokens=9,
                **tools,
            )


@pytest.mark.parametrize(
    ("model", "effort", "fields"),
    [
        ("openai-chat/gpt-5.1", "none", {"reasoning_effort": "none"}),
        ("openai-chat/gpt-5-mini", "none", {"reasoning_effort": "minimal"}),
        ("openai-chat/gpt-5", "medium", {"reasoning_effort": "medium"}),
        ("openai-chat/o3", "none", {"reasoning_effort": "low"}),
        ("openai-chat/gpt-4o", "high", {}),
        ("openrouter/x/y", "none", {"reasoning": {"effort": "none"}}),
        ("deepseek/deepseek-v4", "none", {"thinking": {"type": "disabled"}}),
        ("deepseek/deepseek-v4", "medium", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ("zai/glm-5", "low", {"thinking": {"type": "enabled"}}),
        ("moonshot/kimi-k2.6", "none", {"thinking": {"type": "disabled"}}),
        ("mistral/mistral-medium", "low", {"reasoning_effort": "high"}),
        ("groq/openai/gpt-oss-120b", "none", {"reasoning_effort": "low"}),
        ("groq/llama-3.3-70b", "high", {}),
        ("groq/qwen/qwen3-32b", "none", {"reasoning_effort": "none"}),
        ("groq/qwen/qwen3-32b", "high", {}),
        ("xai/grok-4-0709", "high", {}),
        ("xai/grok-3-mini", "medium", {"reasoning_effort": "high"}),
        ("vllm/qwen3", "low", {"reasoning_effort": "low"}),
    ],
)
async def test_the_effort_goes_in_the_rows_own_words(
    model: str, effort: str, fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    body, reply = await sent(monkeypatch, model, reasoning=effort)
    assert effort_in(body) == fields
    cannot_be_told = effort == "none" and fields.keys() == {"reasoning_effort"} and "none" not in str(fields)
    assert any("effort" in note for note in reply.notes) == (cannot_be_told or not fields)


@pytest.mark.requirement("I11.1.11")
@pytest.mark.parametrize("model", ["openai-chat/gpt-5.1", "openai-chat/o3-mini", "openrouter/openai/gpt-5"])
async def test_a_temperature_that_the_model_refuses_is_left_out_with_a_note(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, reply = await sent(monkeypatch, model, temperature=0.5)
    assert "temperature" not in body
    assert [note for note in reply.notes if "temperature" in note]
    body, reply = await sent(monkeypatch, "openai-chat/gpt-4o", temperature=0.5)
    assert body["temperature"] == 0.5 and reply.notes == ()


@pytest.mark.requirement("I11.1.11")
async def test_web_search_is_for_models_that_search(monkeypatch: pytest.MonkeyPatch) -> None:
    body, reply = await sent(monkeypatch, "openai-chat/gpt-4o", builtins=("web_search",))
    assert "web_search_options" not in body
    assert reply.notes == ("web_search is left out: gpt-4o has none in Chat Completions.",)
    body, reply = await sent(monkeypatch, "openai-chat/gpt-4o-search-preview", builtins=("web_search",))
    assert body["web_search_options"] == {} and reply.notes == ()


@pytest.mark.requirement("I11.1.11")
async def test_a_call_that_cannot_be_demanded_is_left_to_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    body, reply = await sent(monkeypatch, "deepseek/m", tool_choice="required")
    assert "tool_choice" not in body
    assert reply.notes == ("m cannot be made to call a tool: it may choose.",)


async def test_the_schema_goes_as_the_row_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    strict = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}}
    body, _ = await sent(monkeypatch, "openai-chat/m", answer_schema=SCHEMA)
    assert body["response_format"] == strict
    assert [message["role"] for message in body["messages"]] == ["user"]
    body, _ = await sent(monkeypatch, "vllm/m", answer_schema=SCHEMA)
    assert "response_format" not in body, "beside tools it would bind the calls too"
    assert '"city"' in body["messages"][0]["content"]
    body, _ = await sent(monkeypatch, "vllm/m", answer_schema=SCHEMA, tools=())
    assert body["response_format"] == strict
    body, _ = await sent(monkeypatch, "deepseek/m", answer_schema=SCHEMA, tools=(), system="Be brief.")
    assert body["response_format"] == {"type": "json_object"}
    assert body["messages"][0]["content"].startswith("Be brief.\n\n# The answer")
    body, _ = await sent(monkeypatch, "minimax/m", answer_schema=SCHEMA, tools=())
    assert "response_format" not in body and '"city"' in body["messages"][0]["content"]


async def test_strict_only_where_the_answer_fits_the_schema_as_it_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    optional = {**SCHEMA, "required": []}
    body, _ = await sent(monkeypatch, "openai-chat/m", answer_schema=optional)
    inner = body["response_format"]["json_schema"]
    assert (inner["strict"], inner["schema"]) == (False, optional)
    listed = {"type": "array", "items": {"type": "string"}}
    body, _ = await sent(monkeypatch, "openai-chat/m", answer_schema=listed)
    assert "response_format" not in body and '"array"' in body["messages"][0]["content"]


async def test_the_conversation_is_the_key_of_the_cache_where_it_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body, _ = await sent(monkeypatch, "openai-chat/m", conversation="c" * 70)
    assert body["prompt_cache_key"] == "c" * 64
    body, _ = await sent(monkeypatch, "openai-chat/m", conversation="c1", cache=False)
    assert "prompt_cache_key" not in body
    body, _ = await sent(monkeypatch, "groq/m", conversation="c1")
    assert "prompt_cache_key" not in body


@pytest.mark.requirement("I24.6.1")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_openrouter_is_told_the_price_that_a_limit_of_cost_counts_with(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = "openrouter/openai/gpt-4o"
    body, _ = await sent(monkeypatch, model, streamed=streamed, caps_price=True)
    assert body["provider"] == {"max_price": {"prompt": 2.5, "completion": 10.0}}
    body, _ = await sent(monkeypatch, model, streamed=streamed)
    assert "provider" not in body
    body, _ = await sent(monkeypatch, "groq/openai/gpt-oss-120b", streamed=streamed, caps_price=True)
    assert "provider" not in body
