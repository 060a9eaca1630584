"""What a provider has to get back verbatim goes to the provider that it came from, and to no other."""

from __future__ import annotations

import json

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.wire_peers import Peer, streamed
from tests.support.wires.gemini import answer, frames
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import (
    Assistant,
    Reply,
    Request,
    ToolOutcome,
    ToolResults,
    User,
)
from toolspan_bridge.providers.wire.provider import WireProvider

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.1.9")]

CALLS = [("c1", "s__t", {})]
WHOLE = Sent(answer(calls=CALLS))


class Elsewhere(Peer):
    """Another provider of the same wire format."""

    def __init__(self, wire_format: str, base: str) -> None:
        super().__init__(wire_format, base)
        self.name = "elsewhere"


async def asked(provider: WireProvider, request: Request, *, streamed_: bool) -> Reply:
    if not streamed_:
        return await provider.answer(request)
    return [item async for item in provider.stream(request) if isinstance(item, Reply)][-1]


@pytest.mark.parametrize("streamed_", [False, True])
async def test_a_signature_goes_back_to_its_own_provider_also_after_a_restart_and_to_no_other(
    streamed_: bool,
) -> None:
    sent = streamed("gemini", *frames(calls=CALLS)) if streamed_ else WHOLE
    question = Request("m", (User("hi"),))
    with FakeProvider(anything, [sent, WHOLE, WHOLE]) as fake:
        first = Peer("gemini", fake.url)
        reply = await asked(first, question, streamed_=streamed_)
        assert reply.message.origin == "acme"
        outcome = ToolOutcome(reply.message.calls[0].id, "s__t", {"success": True, "result": 1})
        kept = Conversation([User("hi"), reply.message, ToolResults((outcome,))])
        messages = tuple(Conversation.from_json(kept.to_json()).messages)
        await first.answer(Request("m", messages))
        other = Elsewhere("gemini", fake.url)
        await other.answer(Request("m", messages))
        back, elsewhere = (json.dumps(request.body) for request in fake.received[1:])
        await first.aclose()
        await other.aclose()
    assert "c2ln" in back
    assert "c2ln" not in elsewhere
    assert "s__t" in elsewhere


def test_a_conversation_that_was_saved_before_origins_were_noted_is_read() -> None:
    message = {"role": "assistant", "text": "hi", "opaque": [1], "opaque_format": "anthropic"}
    saved = json.dumps({"toolspan_conversation": 1, "messages": [message]}).encode()
    assert Conversation.from_json(saved).messages == [
        Assistant("hi", opaque=[1], opaque_format="anthropic", origin="")
    ]
