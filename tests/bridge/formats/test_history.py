"""A conversation goes on whatever was said: every kind of turn of every format is answered, sent back, saved,
loaded, sent to another provider, and sent back to the first, and each provider's rules take each request."""

from __future__ import annotations

import pytest

from tests.support.histories import (
    FILES,
    FORMATS,
    PEERS,
    RESULTS,
    Peer,
    answered,
    state_of,
)
from tests.support.wires import anthropic as claude
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import BROKEN_STOPS, Message, Reply, User

pytestmark = pytest.mark.requirement("I11.1.0")

_PEERS = {name: Peer(name) for name in PEERS}
_TURNS = [(peer, kind) for peer in _PEERS.values() for kind in peer.turn_names()]
_EVERY_TURN = [
    pytest.param(peer, kind, place, id=f"{peer.name}: {kind}") for place, (peer, kind) in enumerate(_TURNS)
]
_SOME_TURNS = _EVERY_TURN[::3]
_KINDS = list(RESULTS)
_ELSEWHERE = (("thought", "Hm, elsewhere."), ("text", "From here:"), ("call", ("e1", "s__time", {})))


def _history(reply: Reply, place: int) -> list[Message]:
    """A question, the turn, its results and, unless the model goes on by itself, the next question."""
    messages: list[Message] = [User("How is Tromsø?"), reply.message]
    messages += answered(reply.message.calls, _KINDS[place % len(_KINDS) :])
    return messages if reply.stop == "pause" or reply.message.calls else [*messages, User("And now?")]


def _saved(messages: list[Message]) -> list[Message]:
    return Conversation.from_json(Conversation(messages).to_json()).messages


@pytest.mark.parametrize(("peer", "kind", "place"), _EVERY_TURN)
def test_a_turn_is_sent_back_as_its_provider_takes_it(peer: Peer, kind: str, place: int) -> None:
    for reply in peer.turn(kind).replies():
        messages = _history(reply, place)
        for stream in (False, True):
            sent = peer.ask(messages, stream=stream)
            assert "How is Tromsø?" in sent
            if reply.message.calls or reply.stop == "pause":
                assert all(state in sent for state in peer.own_state(reply.message))
            assert peer.ask(_saved(messages), stream=stream) == sent


@pytest.mark.parametrize("name", FORMATS)
def test_a_turn_that_broke_has_no_calls_to_carry_out(name: str) -> None:
    peer = _PEERS[name]
    for reply in (reply for kind in peer.turn_names() for reply in peer.turn(kind).replies()):
        if reply.stop in BROKEN_STOPS or reply.incomplete:
            assert reply.message.calls == ()


@pytest.mark.parametrize(("peer", "kind", "place"), _SOME_TURNS)
def test_a_turn_goes_to_another_provider_and_back(peer: Peer, kind: str, place: int) -> None:
    for step, reply in enumerate(peer.turn(kind).replies()):
        _there_and_back(peer, Peer(PEERS[(place + step * 5) % len(PEERS)], "elsewhere"), reply, place)


@pytest.mark.long
@pytest.mark.parametrize(("peer", "kind", "place"), _EVERY_TURN)
def test_a_turn_goes_to_every_other_provider_and_back(peer: Peer, kind: str, place: int) -> None:
    for reply in peer.turn(kind).replies():
        for name in FORMATS:
            _there_and_back(peer, Peer(name, "elsewhere"), reply, place)


def _there_and_back(peer: Peer, other: Peer, reply: Reply, place: int) -> None:
    messages = _history(reply, place)
    sent = other.ask(messages)
    assert not any(state in sent for state in state_of(reply.message) if len(state) > 3)
    reached = other.says(*_ELSEWHERE).message
    messages = _saved([*messages, reached, *answered(reached.calls)])
    other.ask(messages, stream=True)
    back = peer.ask([*messages, User("Back again.")])
    assert "Back again." in back and "Hm, elsewhere." not in back
    if reply.message.calls:
        assert all(state in back for state in peer.own_state(reply.message))


@pytest.mark.parametrize("kind", RESULTS)
@pytest.mark.parametrize("name", PEERS)
def test_a_result_of_any_kind_is_sent_back(name: str, kind: str) -> None:
    peer = _PEERS[name]
    reply = peer.says(("call", ("c1", "s__weather", {"city": "Oslo"})), ("call", ("c2", "s__time", {})))
    _, words = RESULTS[kind]
    messages = [User("hi"), reply.message, *answered(reply.message.calls, [kind, "text"])]
    for vision in (False, True):
        for later in ([], [User("Thanks, and now?")]):
            sent = peer.ask(_saved([*messages, *later]), vision=vision, stream=vision)
            assert words in sent and "seven degrees" in sent
            assert kind not in FILES or FILES[kind] in sent or "omitted," in sent


@pytest.mark.requirement("I11.1.6")
@pytest.mark.parametrize("name", ["anthropic", "bedrock-anthropic"])
def test_a_paused_turn_and_what_followed_it_go_back_together(name: str) -> None:
    peer = _PEERS[name]
    for reply in peer.turn("its own: a pause").replies():
        gone_on = peer.reads(claude.message(claude.FOUND, claude.CITED))
        messages = _saved([User("How is Tromsø?"), reply.message, gone_on.message, User("And now?")])
        sent = peer.ask(messages)
        assert all(state in sent for state in state_of(reply.message) | state_of(gone_on.message))
