"""A setting that a model does not take is left out on the provider's word, said, and remembered."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.formats import TOOLS
from tests.support.wire_peers import Peer, streamed, wires
from toolspan_bridge.errors import ProviderError
from toolspan_bridge.messages import Reply, Request, User

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.2.3")]

WHOLE_OR_STREAMED = pytest.mark.parametrize("in_pieces", [False, True], ids=["whole", "streamed"])
Complaint = Callable[[dict[str, Any]], str]


class Particular(FakeProvider):
    """Speaks ``wire_format`` and refuses a body as long as ``complaint`` has something to say about it."""

    def __init__(self, wire_format: str, complaint: Complaint, kind: str = "invalid_request_error") -> None:
        super().__init__(anything, [])
        self._format = wire_format
        self._complaint = complaint
        self._kind = kind

    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        if said := self._complaint(request.body):
            return Sent(wires(self._format).error(said, self._kind), status=400)
        if request.target.endswith("in-pieces"):
            return streamed(self._format, *wires(self._format).frames("Yes."))
        return Sent(wires(self._format).answer("Yes."))


@asynccontextmanager
async def peer(wire_format: str, fake: FakeProvider) -> AsyncGenerator[Peer]:
    async with aclosing(Peer(wire_format, fake.url)) as found:
        yield found


async def ask(provider: Peer, in_pieces: bool, **fields: Any) -> Reply:
    request = Request("m", (User("Hello?"),), tools=TOOLS, stream=in_pieces, **fields)
    if not in_pieces:
        return await provider.answer(request)
    items = [item async for item in provider.stream(request)]
    reply = items[-1]
    assert isinstance(reply, Reply)
    return reply


def refuses(*path: str, said: str) -> Complaint:
    """Complains about a body that has a value at ``path``."""

    def complaint(body: dict[str, Any]) -> str:
        *within, name = path
        for key in within:
            body = body.get(key, {})
        return said if name in body else ""

    return complaint


REFUSED: dict[str, tuple[str, Complaint, str]] = {
    "Chat Completions": (
        "openai",
        refuses("temperature", said="Unsupported value: 'temperature' does not support 0 with this model."),
        "temperature",
    ),
    "Responses": (
        "openai-responses",
        refuses("temperature", said="Unsupported parameter: 'temperature' is not supported with this model."),
        "temperature",
    ),
    "Anthropic": (
        "anthropic",
        refuses("temperature", said="`temperature` is deprecated for this model."),
        "temperature",
    ),
    "Bedrock": (
        "bedrock",
        refuses("inferenceConfig", "temperature", said="`temperature` is deprecated for this model."),
        "temperature",
    ),
    "Bedrock, Claude's own": (
        "bedrock-anthropic",
        refuses("temperature", said="`temperature` is deprecated for this model."),
        "temperature",
    ),
    "Gemini": (
        "gemini",
        refuses(
            "generationConfig", "temperature", said="Unknown name \"temperature\" at 'generation_config'"
        ),
        "temperature",
    ),
    "Ollama": (
        "ollama",
        refuses("options", "temperature", said="'temperature' is not supported by this model"),
        "temperature",
    ),
}


@WHOLE_OR_STREAMED
@pytest.mark.parametrize("case", REFUSED)
async def test_a_refused_setting_is_left_out_with_a_note_and_not_sent_again(
    case: str, in_pieces: bool
) -> None:
    wire_format, complaint, name = REFUSED[case]
    with Particular(wire_format, complaint) as fake:
        async with peer(wire_format, fake) as provider:
            first = await ask(provider, in_pieces, temperature=0.0)
            second = await ask(provider, in_pieces, temperature=0.0)
    assert (first.message.text, second.message.text) == ("Yes.", "Yes.")
    (note,) = first.notes
    assert note.startswith(f"acme does not take {name!r} for m, it is left out: acme answered 400")
    assert (second.notes, len(fake.received)) == ((note,), 3)


@WHOLE_OR_STREAMED
async def test_a_limit_of_tokens_goes_on_under_its_other_name(in_pieces: bool) -> None:
    said = "Unsupported parameter: 'max_completion_tokens' is not supported with this model."
    with Particular("openai", refuses("max_completion_tokens", said=said)) as fake:
        async with peer("openai", fake) as provider:
            reply = await ask(provider, in_pieces, max_tokens=99)
    assert "it is sent as 'max_tokens'" in reply.notes[0]
    assert fake.received[-1].body["max_tokens"] == 99


async def test_a_limit_that_is_refused_under_both_names_is_left_out() -> None:
    def complaint(body: dict[str, Any]) -> str:
        refused = next((name for name in ("max_completion_tokens", "max_tokens") if name in body), "")
        return refused and f"Unsupported parameter: {refused!r} is not supported with this model."

    with Particular("openai", complaint) as fake:
        async with peer("openai", fake) as provider:
            reply = await ask(provider, False, max_tokens=99)
    assert (reply.message.text, len(reply.notes), len(fake.received)) == ("Yes.", 2, 3)


async def test_a_setting_of_every_tool_is_left_out_of_all_of_them() -> None:
    def complaint(body: dict[str, Any]) -> str:
        strict = any("strict" in tool["function"] for tool in body["tools"])
        return "Unknown parameter: 'tools[0].function.strict'." if strict else ""

    with Particular("openai", complaint) as fake:
        async with peer("openai", fake) as provider:
            reply = await ask(provider, False)
    assert reply.message.text == "Yes."
    assert [tool["function"]["name"] for tool in fake.received[-1].body["tools"]] == ["s__time", "s__weather"]


async def test_a_model_that_cannot_be_streamed_answers_whole_from_then_on() -> None:
    class Whole(Particular):
        def respond(self, request: Received) -> Sent:
            if request.target.endswith("in-pieces"):
                self.received.append(request)
                said = "This model doesn't support tool use in streaming mode."
                return Sent(wires("bedrock").error(said, "ValidationException"), status=400)
            return super().respond(request)

    with Whole("bedrock", lambda body: "") as fake:
        async with peer("bedrock", fake) as provider:
            first = await ask(provider, True)
            second = await ask(provider, True)
    assert (first.message.text, second.message.text, len(fake.received)) == ("Yes.", "Yes.", 3)
    assert "does not stream m with tools" in first.notes[0]
    assert second.notes == first.notes


@pytest.mark.parametrize(
    "said",
    [
        "Unsupported parameter: 'seed' is not supported with this model.",
        "Unsupported parameter: 'messages' is not supported with this model.",
        "Unsupported parameter: 'model' is not supported with this model.",
    ],
)
async def test_what_was_not_sent_or_is_needed_is_told_at_once(said: str) -> None:
    with Particular("openai", lambda body: said) as fake:
        async with peer("openai", fake) as provider:
            with pytest.raises(ProviderError, match="is not supported with this model"):
                await ask(provider, False)
    assert len(fake.received) == 1


async def test_a_provider_that_refuses_one_setting_after_the_other_is_asked_a_few_times_only() -> None:
    def complaint(body: dict[str, Any]) -> str:
        spare = sorted(body.keys() - {"model", "messages", "tools"})
        return f"Unsupported parameter: {spare[0]!r} is not supported with this model." if spare else "No."

    with Particular("openai", complaint) as fake:
        async with peer("openai", fake) as provider:
            with pytest.raises(ProviderError):
                await ask(provider, False, temperature=0.0, max_tokens=9, parallel=False, reasoning="low")
    assert len(fake.received) <= 5


@WHOLE_OR_STREAMED
@pytest.mark.requirement("I11.2.4")
async def test_an_error_in_the_place_of_an_answer_is_asked_again_and_never_an_empty_answer(
    in_pieces: bool,
) -> None:
    failed = {
        "finish_reason": "error",
        "error": {"code": 502, "message": "Provider disconnected", "metadata": {"provider_name": "Nvidia"}},
    }
    whole = Sent({"choices": [{**failed, "message": {"role": "assistant", "content": ""}}]})
    wire = wires("openai")
    pieces = streamed("openai", wire.data({"choices": [{**failed, "index": 0, "delta": {"content": ""}}]}))
    answers = (
        [pieces, streamed("openai", *wire.frames("Yes."))]
        if in_pieces
        else [whole, Sent(wire.answer("Yes."))]
    )
    with FakeProvider(anything, answers) as fake:
        async with peer("openai", fake) as provider:
            reply = await ask(provider, in_pieces)
    assert (reply.message.text, reply.attempts) == ("Yes.", 2)
    with FakeProvider(anything, [answers[0]] * 3) as fake:
        async with peer("openai", fake) as provider:
            with pytest.raises(ProviderError, match="Provider disconnected") as caught:
                await ask(provider, in_pieces)
    assert caught.value.status == 502
