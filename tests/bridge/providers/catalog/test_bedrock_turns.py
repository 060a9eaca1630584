"""Second turns of Converse, whole and streamed: each family of models gets what it takes."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, checks
from tests.support.outcomes import PDF, PNG, failed, image, part, said, succeeded
from tests.support.provider_settings import instant
from tests.support.wires.bedrock import BODIES, answer, events, whole, written
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import (
    Assistant,
    Citation,
    Message,
    Reply,
    Request,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
)
from toolspan_bridge.providers import resolve_model

pytestmark = pytest.mark.anyio

TOKEN = "bedrock-api-key-test"
TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
CALLS = [("c1", "s__t", {"city": "Oslo"})]
DOCUMENT = part("resource", resource={"uri": "a.pdf", "mimeType": "application/pdf", "blob": PDF})
CLAUDE = "eu.anthropic.claude-sonnet-4-6"
NOVA = "us.amazon.nova-pro-v1:0"
LLAMA = "us.meta.llama3-3-70b-instruct-v1:0"
LLAMA_4 = "us.meta.llama4-maverick-17b-instruct-v1:0"
MISTRAL = "mistral.mistral-large-2402-v1:0"
PIXTRAL = "us.mistral.pixtral-large-2502-v1:0"
WRITER = "us.writer.palmyra-x5-v1:0"
QWEN = "qwen.qwen3-235b-a22b-2507-v1:0"
GPT = "us.openai.gpt-5.6-sol"
OWN = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/x1"
NAMED = f"arn:aws:bedrock:us-east-1:123456789012:inference-profile/{CLAUDE}"
MODELS = (CLAUDE, NOVA, LLAMA, LLAMA_4, MISTRAL, PIXTRAL, WRITER, QWEN, GPT, OWN, NAMED)
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture(autouse=True)
def bedrock(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", TOKEN)
    monkeypatch.setenv("AWS_REGION", "eu-west-3")
    return monkeypatch


def at(fake: FakeProvider, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", fake.url)


def sent(body: dict[str, Any], streamed: bool) -> Sent:
    if not streamed:
        return Sent(body)
    kind = {"content-type": "application/vnd.amazon.eventstream"}
    return Sent(frames=[written(*event) for event in events(body)], headers=kind)


def strict(model: str, streamed: bool) -> Any:
    return checks.bedrock_token(TOKEN, model, "converse-stream" if streamed else "converse")


async def turn(model: str, streamed: bool, *messages: Message, **fields: Any) -> Reply:
    provider, name = resolve_model(f"bedrock/{model}", instant())
    request = Request(**{"model": name, "messages": messages, "tools": (TOOL,), **fields})
    async with aclosing(provider):
        if not streamed:
            return await provider.answer(request)
        async with aclosing(provider.stream(request)) as items:
            replies = [item async for item in items if isinstance(item, Reply)]
    return replies[-1]


def reloaded(*messages: Message) -> tuple[Message, ...]:
    return tuple(Conversation.from_json(Conversation(list(messages)).to_json()).messages)


async def exchange(
    model: str, streamed: bool, patch: pytest.MonkeyPatch, outcome: ToolOutcome, *more: Message, **fields: Any
) -> list[dict[str, Any]]:
    """The messages of the second request: after a call, its ``outcome``, and what came ``more``."""
    replies = [sent(answer("I look.", CALLS), streamed), sent(answer("Done."), streamed)]
    with FakeProvider(strict(model, streamed), replies) as fake:
        at(fake, patch)
        first = await turn(model, streamed, User("hi"), **fields)
        history = reloaded(User("hi"), first.message, ToolResults((outcome,)), *more)
        assert (await turn(model, streamed, *history, **fields)).message.text == "Done."
    messages: list[dict[str, Any]] = fake.received[1].body["messages"]
    return messages


@STREAMED
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.requirement("I11.1.12")
async def test_results_of_every_sort_and_a_question_after_them_are_taken(
    model: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = succeeded(said("look"), image(), DOCUMENT, structured={"a": [1]})
    messages = await exchange(model, streamed, monkeypatch, outcome, User("And this?", (DOCUMENT,)))
    written_out = json.dumps(messages)
    assert "And this?" in written_out and '"toolUseId": "c1"' in written_out
    seen = model not in (LLAMA, MISTRAL, WRITER, QWEN)
    assert (PNG in written_out) is seen and ("[image/png omitted" in written_out) is not seen


@STREAMED
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.requirement("I11.1.12")
async def test_a_failed_result_and_an_empty_one_are_taken(
    model: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = json.dumps(await exchange(model, streamed, monkeypatch, failed(said("boom"), image())))
    assert "boom" in broken and PNG not in broken
    assert "(no output)" in json.dumps(await exchange(model, streamed, monkeypatch, succeeded()))


@pytest.mark.parametrize(
    ("model", "content"),
    [
        (CLAUDE, [{"json": {"a": 1}}]),
        (NOVA, [{"json": {"a": 1}}]),
        (MISTRAL, [{"json": {"a": 1}}]),
        (LLAMA, [{"text": '{"a":1}'}]),
        (WRITER, [{"text": '{"a":1}'}]),
        (OWN, [{"text": '{"a":1}'}]),
    ],
)
@pytest.mark.requirement("I11.1.12")
async def test_the_content_of_a_result_is_json_or_text_by_family(
    model: str, content: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = await exchange(model, False, monkeypatch, succeeded(structured={"a": 1}))
    assert messages[2]["content"][0]["toolResult"]["content"] == content


@pytest.mark.parametrize(
    ("outcome", "json_"),
    [
        (succeeded(said("7")), {"text": "7"}),
        (failed(said("boom")), {"error": "boom"}),
        (succeeded(structured=[1]), {"text": "[1]"}),
        (succeeded(said("see"), structured={"a": 1}), {"output": {"a": 1}, "text": "see"}),
    ],
)
@pytest.mark.requirement("I11.1.12")
async def test_mistral_gets_every_result_as_an_object(
    outcome: ToolOutcome, json_: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = await exchange(MISTRAL, False, monkeypatch, outcome)
    assert messages[2]["content"][0]["toolResult"]["content"] == [{"json": json_}]


@pytest.mark.parametrize(
    ("model", "question", "apart"),
    [
        (CLAUDE, User("Go on."), False),
        (CLAUDE, User("Look.", (image(),)), False),
        (CLAUDE, User("Read.", (DOCUMENT,)), True),
        (NOVA, User("Read.", (DOCUMENT,)), False),
        (LLAMA, User("Go on."), True),
        (MISTRAL, User("Go on."), True),
        (WRITER, User("Go on."), True),
        (QWEN, User("Go on."), False),
        (OWN, User("Go on."), True),
    ],
)
@pytest.mark.requirement("I11.1.12")
async def test_a_question_shares_a_message_with_results_only_where_that_is_taken(
    model: str, question: User, apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = await exchange(model, False, monkeypatch, succeeded(said("7")), question)
    assert [message["role"] for message in messages][2:] == ["user", *(["assistant", "user"] * apart)]


@STREAMED
@pytest.mark.requirement("I11.1.12")
async def test_the_first_turn_is_the_user_s_and_neighbours_of_one_role_are_merged(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = (Assistant("Hello."), Assistant("Well?"), User("a"), User("b"))
    with FakeProvider(strict(LLAMA, streamed), [sent(answer("Yes."), streamed)]) as fake:
        at(fake, monkeypatch)
        await turn(LLAMA, streamed, *history)
    roles = [(message["role"], len(message["content"])) for message in fake.received[0].body["messages"]]
    assert roles == [("user", 1), ("assistant", 2), ("user", 2)]


@STREAMED
@pytest.mark.requirement("I11.1.12")
async def test_claude_knows_that_no_tool_is_to_be_called_and_others_are_told_so(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for model in (CLAUDE, NOVA):
        with FakeProvider(strict(model, streamed), [sent(answer("Yes."), streamed)]) as fake:
            at(fake, monkeypatch)
            await turn(model, streamed, User("hi"), tool_choice="none")
        body = fake.received[0].body
        own = body.get("additionalModelRequestFields")
        assert own == ({"tool_choice": {"type": "none"}} if model == CLAUDE else None)
        assert ("toolChoice" in body["toolConfig"]) is (model == NOVA)


@pytest.mark.parametrize(
    ("model", "choice"), [(CLAUDE, "any"), (NOVA, "any"), (LLAMA, "auto"), (GPT, "auto"), (OWN, "auto")]
)
@pytest.mark.requirement("I11.1.12")
async def test_a_family_that_cannot_be_made_to_call_is_asked_to(
    model: str, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeProvider(strict(model, False), [sent(answer("Yes."), False)]) as fake:
        at(fake, monkeypatch)
        await turn(model, False, User("hi"), tool_choice="required")
    body = fake.received[0].body
    assert body["toolConfig"]["toolChoice"] == {choice: {}}
    assert ("system" in body) is (choice == "auto")


@STREAMED
@pytest.mark.requirement("I11.1.12")
async def test_thoughts_of_one_model_do_not_go_to_another(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsigned = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": ""}}}
    calling = answer("", CALLS)["output"]["message"]["content"]
    thinking = BODIES["thoughts, then text and calls"]["output"]["message"]["content"]
    replies = [whole(unsigned, *calling, stop="tool_use"), whole(*thinking, stop="tool_use"), answer("End.")]
    with (
        FakeProvider(strict(NOVA, streamed), [sent(replies[0], streamed), sent(replies[2], streamed)]) as one,
        FakeProvider(strict(CLAUDE, streamed), [sent(replies[1], streamed)]) as other,
    ):
        at(one, monkeypatch)
        first = await turn(NOVA, streamed, User("hi"))
        history = reloaded(User("hi"), first.message, ToolResults((succeeded(),)))
        at(other, monkeypatch)
        second = await turn(CLAUDE, streamed, *history)
        outcomes = tuple(succeeded(call_id=call.id) for call in second.message.calls)
        at(one, monkeypatch)
        await turn(NOVA, streamed, *reloaded(*history, second.message, ToolResults(outcomes)))
    assert "reasoningContent" not in json.dumps(other.received[0].body)
    assert "reasoningContent" not in json.dumps(one.received[1].body)


@STREAMED
@pytest.mark.parametrize("model", [CLAUDE, NOVA, OWN])
@pytest.mark.parametrize("stop", ["guardrail_intervened", "content_filtered", "malformed_tool_use"])
@pytest.mark.requirement("I11.1.10")
async def test_a_call_of_a_turn_that_was_stopped_is_not_carried_out(
    model: str, stop: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = {**answer("I look.", CALLS), "stopReason": stop}
    replies = [sent(stopped, streamed), sent(answer("Done."), streamed)]
    with FakeProvider(strict(model, streamed), replies) as fake:
        at(fake, monkeypatch)
        first = await turn(model, streamed, User("hi"))
        history = reloaded(User("hi"), first.message, User("And now?"))
        second = await turn(model, streamed, *history)
    assert (first.message.calls, [call.id for call in first.cut_calls]) == ((), ["c1"])
    assert fake.received[1].body["messages"][1]["content"] == [{"text": "I look."}]
    assert second.message.text == "Done."


@STREAMED
@pytest.mark.parametrize("model", [CLAUDE, NOVA, "us.amazon.nova-2-lite-v1:0", "openai.gpt-oss-120b-1:0"])
@pytest.mark.requirement("I11.3.1", "I11.3.21")
async def test_effort_and_cache_hold_over_two_turns_and_the_usage_is_split(
    model: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    thinking = BODIES["thoughts, then text and calls"] if model == CLAUDE else answer("I look.", CALLS)
    thinking = {**thinking, "usage": {**thinking["usage"], "cacheWriteInputTokens": 4}}
    replies = [sent(thinking, streamed), sent(answer("Done."), streamed)]
    asked = {"reasoning": "low", "system": "Be brief."}
    with FakeProvider(strict(model, streamed), replies) as fake:
        at(fake, monkeypatch)
        first = await turn(model, streamed, User("hi"), **asked)
        outcomes = tuple(succeeded(call_id=call.id) for call in first.message.calls)
        await turn(model, streamed, *reloaded(User("hi"), first.message, ToolResults(outcomes)), **asked)
    begun, gone_on = (request.body for request in fake.received)
    assert begun["system"] == gone_on["system"] and begun["toolConfig"] == gone_on["toolConfig"]
    assert begun.get("additionalModelRequestFields") == gone_on.get("additionalModelRequestFields")
    assert ("reasoningContent" in json.dumps(gone_on)) is (model == CLAUDE)
    assert (first.usage.cached_tokens, first.usage.written_tokens) == (3, 4)


@STREAMED
@pytest.mark.requirement("I11.1.5")
async def test_thoughts_of_another_beginning_are_left_out_once_claude_says_so(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = "global.anthropic.claude-opus-5-5-v1:0"
    said_so = "messages.1.content.0: thinking block is bound to a different conversation"
    refusal = Sent({"message": said_so}, 400, {"x-amzn-errortype": "ValidationException"})
    thinking = BODIES["thoughts, then text and calls"]
    replies = [sent(thinking, streamed), refusal, sent(answer("Done."), streamed)]
    with FakeProvider(strict(model, streamed), replies) as fake:
        at(fake, monkeypatch)
        first = await turn(model, streamed, User("hi"), system="Be brief.")
        outcomes = tuple(succeeded(call_id=call.id) for call in first.message.calls)
        history = reloaded(User("hi"), first.message, ToolResults(outcomes))
        second = await turn(model, streamed, *history, system="Be long.")
    own = fake.received[2].body["additionalModelRequestFields"]
    assert own["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    assert own["anthropic_beta"] == ["thinking-binding-controls-2026-08-01"]
    assert second.message.text == "Done." and "left out earlier thoughts" in second.notes[-1]


SOURCED = {
    "citationsContent": {
        "content": [{"text": "It snows."}],
        "citations": [
            {
                "title": "Weather",
                "sourceContent": [{"text": "snow"}, {"text": " today"}],
                "location": {"web": {"url": "https://a.test/w", "domain": "a.test"}},
            },
            {"source": "https://b.test", "location": {"searchResultLocation": {"searchResultIndex": 0}}},
            {"location": {"documentChar": {"documentIndex": 0, "start": 0, "end": 4}}},
        ],
    }
}


@pytest.mark.requirement("I11.3.5")
@STREAMED
@pytest.mark.parametrize("model", [CLAUDE, NOVA, LLAMA])
async def test_sources_are_kept_and_go_back_where_the_family_names_some(
    model: str, streamed: bool, bedrock: pytest.MonkeyPatch
) -> None:
    replies = [sent(whole({"text": "Look: "}, SOURCED), streamed), sent(answer("Yes."), streamed)]
    with FakeProvider(strict(model, streamed), replies) as fake:
        at(fake, bedrock)
        first = await turn(model, streamed, User("Snow?"))
        (saved,) = reloaded(first.message)
        await turn(model, streamed, User("Snow?"), saved, User("Sure?"))
    assert first.message.text == "Look: It snows." and saved == first.message
    assert first.message.citations == (
        Citation("https://a.test/w", "Weather", 6, 15, "snow today"),
        Citation("https://b.test", "", 6, 15),
    )
    plain = {"text": "It snows."}
    echo = fake.received[1].body["messages"][1]["content"]
    assert echo == [{"text": "Look: "}, plain if model == LLAMA else SOURCED]
