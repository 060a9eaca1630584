"""Second turns of Gemini, whole and streamed: what came goes back as its API takes it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Received, Sent, checks
from tests.support.outcomes import image, said, succeeded
from tests.support.provider_settings import instant
from tests.support.wires.gemini import answer, event, signed, stream
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import (
    Message,
    Reply,
    Request,
    ToolResults,
    ToolSpec,
    User,
)
from toolspan_bridge.messages.deltas import CallDelta, TextDelta
from toolspan_bridge.providers import resolve_model
from toolspan_bridge.providers.http.settings import HttpSettings

pytestmark = pytest.mark.anyio

KEY, TOKEN, PLACE, MODEL = "AIza-test", "ya29.test-token", "projects/p-1/locations/global", "gemini-3-pro"
TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
CALLS = [("c1", "s__t", {"city": "Oslo"})]
GIF = base64.b64encode(b"GIF89a" + bytes(60)).decode()
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


def gemini_at(fake: FakeProvider, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("GEMINI_API_KEY", KEY)
    patch.setenv("GOOGLE_GEMINI_BASE_URL", fake.url)


def vertex_at(fake: FakeProvider, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("VERTEX_ACCESS_TOKEN", TOKEN)
    patch.setenv("GOOGLE_CLOUD_PROJECT", "p-1")
    patch.setenv("GOOGLE_VERTEX_BASE_URL", fake.url)


def method(streamed: bool) -> str:
    return "streamGenerateContent?alt=sse" if streamed else "generateContent"


def sent(body: dict[str, Any], streamed: bool) -> Sent:
    return Sent(frames=stream(body)) if streamed else Sent(body)


async def turn(
    name: str, streamed: bool, *messages: Message, settings: HttpSettings | None = None, **fields: Any
) -> Reply:
    provider, model = resolve_model(f"{name}/{MODEL}", settings or instant())
    request = Request(**{"model": model, "messages": messages, "tools": (TOOL,), **fields})
    async with aclosing(provider):
        if not streamed:
            return await provider.answer(request)
        async with aclosing(provider.stream(request)) as items:
            replies = [item async for item in items if isinstance(item, Reply)]
    return replies[-1]


def reloaded(*messages: Message) -> tuple[Message, ...]:
    return tuple(Conversation.from_json(Conversation(list(messages)).to_json()).messages)


@STREAMED
@pytest.mark.requirement("I11.1.7")
async def test_a_result_with_a_reference_goes_back_as_text(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = {"properties": {"a": {"$ref": "#/$defs/a"}}}
    outcome = succeeded(said(json.dumps(schema)), structured=schema)
    replies = [sent(answer(calls=CALLS), streamed), sent(answer("A schema."), streamed)]
    with FakeProvider(checks.gemini(KEY, MODEL, method=method(streamed)), replies) as fake:
        gemini_at(fake, monkeypatch)
        first = await turn("gemini", streamed, User("hi"))
        history = reloaded(User("hi"), first.message, ToolResults((outcome,)))
        second = await turn("gemini", streamed, *history)
    response = fake.received[1].body["contents"][2]["parts"][0]["functionResponse"]["response"]
    assert json.loads(response["output"]) == schema
    assert second.message.text == "A schema."


@STREAMED
@pytest.mark.requirement("I11.1.8")
async def test_what_is_said_about_the_end_is_no_answer(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    calling, silent = answer(calls=CALLS), answer()
    calling["candidates"][0]["finishMessage"] = "Model generated function call(s)."
    silent["candidates"][0] |= {"finishReason": "SAFETY", "finishMessage": "It was unsafe."}
    with FakeProvider(
        checks.gemini(KEY, MODEL, method=method(streamed)),
        [Sent(frames=[event(body)]) if streamed else Sent(body) for body in (calling, silent)],
    ) as fake:
        gemini_at(fake, monkeypatch)
        first = await turn("gemini", streamed, User("hi"))
        results = ToolResults((succeeded(said("7")),))
        second = await turn("gemini", streamed, *reloaded(User("hi"), first.message, results))
    assert (first.message.text, first.notes, len(first.message.calls)) == ("", (), 1)
    assert (second.message.text, second.stop) == ("", "refusal")
    assert second.notes == ("Gemini ended its turn (SAFETY): It was unsafe.",)


@STREAMED
@pytest.mark.requirement("I11.1.9")
async def test_a_picture_of_a_kind_that_gemini_does_not_take_is_described(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = succeeded(image(GIF, "image/gif"), image())
    replies = [sent(answer(calls=CALLS), streamed), sent(answer("I see."), streamed)]
    with FakeProvider(checks.gemini(KEY, MODEL, method=method(streamed)), replies) as fake:
        gemini_at(fake, monkeypatch)
        first = await turn("gemini", streamed, User("hi", (image(GIF, "image/gif"),)))
        await turn("gemini", streamed, *reloaded(User("hi"), first.message, ToolResults((outcome,))))
    assert fake.received[0].body["contents"][0]["parts"][1] == {"text": "[image/gif omitted, 66 B]"}
    response = fake.received[1].body["contents"][2]["parts"][0]["functionResponse"]
    assert response["response"] == {"output": "[image/gif omitted, 66 B]"}
    assert [part["inlineData"]["mimeType"] for part in response["parts"]] == ["image/png"]


PAUSED = signed({"text": "It is"}, answer(calls=CALLS)["candidates"][0]["content"]["parts"][0])
PAUSED["candidates"][0] |= {"finishReason": "CONTINUATION", "continuationToken": "dG9r"}
REST = signed({"text": " seven."}, {"functionCall": {"id": "c2", "name": "s__t", "args": {}}})


def _paused(streamed: bool) -> Sent:
    if not streamed:
        return Sent(PAUSED)
    *begun, last = stream(PAUSED)
    last_event = json.loads(last.removeprefix(b"data: "))
    last_event["candidates"][0]["continuationToken"] = "dG9r"
    return Sent(frames=[*begun, event(last_event)])


@STREAMED
@pytest.mark.requirement("I11.1.9")
async def test_a_turn_in_two_answers_is_gone_on_with_and_goes_back_as_one(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = [_paused(streamed), sent(REST, streamed), sent(answer("Yes."), streamed)]
    with FakeProvider(checks.gemini(KEY, MODEL, method=method(streamed)), replies) as fake:
        gemini_at(fake, monkeypatch)
        first = await turn("gemini", streamed, User("hi"))
        outcomes = tuple(succeeded(call_id=call.id) for call in first.message.calls)
        await turn("gemini", streamed, *reloaded(User("hi"), first.message, ToolResults(outcomes)))
    begun, more, answered = (request.body for request in fake.received)
    assert more == {**begun, "continuationToken": "dG9r"}
    assert (first.message.text, first.stop) == ("It is seven.", "stop")
    assert [call.id for call in first.message.calls] == ["c1", "c2"]
    assert first.usage.input_tokens == 22
    parts = answered["contents"][1]["parts"]
    assert [part.get("text") for part in parts] == ["It is", None, " seven.", None]
    assert "continuationToken" not in json.dumps(answered)


@pytest.mark.requirement("I11.1.9")
async def test_the_rest_of_a_streamed_turn_is_streamed_and_its_calls_are_counted_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check = checks.gemini(KEY, MODEL, method=method(True))
    with FakeProvider(check, [_paused(True), sent(REST, True)]) as fake:
        gemini_at(fake, monkeypatch)
        provider, model = resolve_model(f"gemini/{MODEL}", instant())
        async with aclosing(provider):
            items = [item async for item in provider.stream(Request(model, (User("hi"),), tools=(TOOL,)))]
    assert "".join(item.text for item in items if isinstance(item, TextDelta)) == "It is seven."
    assert [item.index for item in items if isinstance(item, CallDelta)] == [0, 1]
    assert sum(isinstance(item, Reply) for item in items) == 1


@STREAMED
@pytest.mark.requirement("I11.1.9")
async def test_a_turn_whose_rest_cannot_be_had_carries_nothing_out(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = [_paused(streamed)] * 9
    with FakeProvider(checks.gemini(KEY, MODEL, method=method(streamed)), endless) as fake:
        gemini_at(fake, monkeypatch)
        reply = await turn("gemini", streamed, User("hi"))
    assert (reply.stop, reply.message.calls, len(reply.cut_calls)) == ("length", (), 9)


@pytest.mark.requirement("I11.1.9")
async def test_a_stream_whose_rest_is_refused_keeps_what_came(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Sent({"error": {"code": 400, "message": "the token is old", "status": "INVALID"}}, status=400)
    check = checks.gemini(KEY, MODEL, method=method(True))
    with FakeProvider(check, [_paused(True), refusal]) as fake:
        gemini_at(fake, monkeypatch)
        reply = await turn("gemini", True, User("hi"))
    assert (reply.message.text, reply.incomplete, reply.message.calls) == ("It is", True, ())
    assert "the token is old" in reply.trouble


def only_signed(by: str, check: Callable[[Received], str]) -> Callable[[Received], str]:
    """``check``, and a refusal of signatures that another has made."""

    def strict(request: Received) -> str:
        signatures = [
            part["thoughtSignature"]
            for content in request.body["contents"]
            for part in content["parts"]
            if "thoughtSignature" in part
        ]
        foreign = set(signatures) - {by, "skip_thought_signature_validator"}
        return f"Corrupted thought signature: {foreign}" if foreign else check(request)

    return strict


def by(signature: str, call_id: str) -> dict[str, Any]:
    part = {"functionCall": {"id": call_id, "name": "s__t", "args": {}}, "thoughtSignature": signature}
    return signed(part)


@STREAMED
@pytest.mark.requirement("I11.1.9")
async def test_signatures_of_the_api_and_of_vertex_are_kept_apart(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = only_signed("QVBJ", checks.gemini(KEY, MODEL, method=method(streamed)))
    cloud = only_signed("VlRY", checks.vertex(TOKEN, PLACE, MODEL, method=method(streamed)))
    with (
        FakeProvider(api, [sent(by("QVBJ", "c1"), streamed), sent(answer("End."), streamed)]) as one,
        FakeProvider(cloud, [sent(by("VlRY", "c2"), streamed)]) as other,
    ):
        gemini_at(one, monkeypatch)
        vertex_at(other, monkeypatch)
        first = await turn("gemini", streamed, User("hi"))
        history = reloaded(User("hi"), first.message, ToolResults((succeeded(call_id="c1"),)))
        second = await turn("vertex", streamed, *history)
        history = reloaded(*history, second.message, ToolResults((succeeded(call_id="c2"),)))
        last = await turn("gemini", streamed, *history)
    signatures = [
        part["thoughtSignature"]
        for content in one.received[1].body["contents"]
        for part in content["parts"]
        if "thoughtSignature" in part
    ]
    assert signatures == ["QVBJ", "skip_thought_signature_validator"]
    assert last.message.text == "End."


@STREAMED
@pytest.mark.requirement("I11.1.9")
async def test_a_call_that_could_not_be_read_is_asked_for_again(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolspan_bridge.loop import Question
    from toolspan_bridge.loop import answer as answered
    from toolspan_bridge.toolbox import Toolbox

    broken = answer("I call")
    broken["candidates"][0] |= {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed: t("}
    replies = [Sent(frames=[event(broken)]) if streamed else Sent(broken), sent(answer("Yes."), streamed)]
    with FakeProvider(checks.gemini(KEY, MODEL, method=method(streamed)), replies) as fake:
        gemini_at(fake, monkeypatch)
        provider, model = resolve_model(f"gemini/{MODEL}", instant())
        transcript: list[Message] = []
        async with aclosing(provider):
            question = Question("hi", model, stream=streamed)
            found = await answered(question, provider, Toolbox(()), transcript)
    assert (found.content, found.stop) == ("Yes.", "end")
    assert [getattr(message, "text", "") for message in transcript] == ["hi", "Yes."]
    assert "Malformed: t(" in found.notes[0]


@STREAMED
@pytest.mark.requirement("I11.2.6")
async def test_the_delay_that_the_free_tier_asks_for_is_waited_for(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}
    error = {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED", "details": [info]}
    waits: list[float] = []
    replies = [Sent({"error": error}, status=429), sent(answer("Yes."), streamed)]
    with FakeProvider(checks.gemini(KEY, MODEL, method=method(streamed)), replies) as fake:
        gemini_at(fake, monkeypatch)
        reply = await turn("gemini", streamed, User("hi"), settings=instant(waits, total=900.0))
    assert (reply.message.text, reply.attempts, waits) == ("Yes.", 2, [34.4])


@STREAMED
@pytest.mark.requirement("I11.3.1", "I11.3.4", "I11.3.5")
async def test_effort_schema_and_google_s_tools_hold_over_two_turns(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    thought = {"text": "I count.", "thought": True}
    code = {"executableCode": {"language": "PYTHON", "code": "print(7)"}}
    ran = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "7"}}
    call = answer(calls=CALLS)["candidates"][0]["content"]["parts"][0]
    first_body = signed(thought, code, ran, call)
    asked = {
        "reasoning": "low",
        "answer_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "builtins": ("code_execution", "web_search"),
    }
    replies = [sent(first_body, streamed), sent(answer('{"n": 7}'), streamed)]
    with FakeProvider(checks.gemini(KEY, MODEL, method=method(streamed)), replies) as fake:
        gemini_at(fake, monkeypatch)
        first = await turn("gemini", streamed, User("hi"), **asked)
        history = reloaded(User("hi"), first.message, ToolResults((succeeded(said("7")),)))
        second = await turn("gemini", streamed, *history, **asked)
    begun, gone_on = (request.body for request in fake.received)
    assert gone_on["contents"][1]["parts"] == [thought, code, ran, call]
    assert {key: begun[key] for key in ("tools", "generationConfig")} == {
        key: gone_on[key] for key in ("tools", "generationConfig")
    }
    assert (first.message.text, second.message.text) == ("", '{"n": 7}')
