"""What the gateway writes of a long answer takes work that grows with its length alone."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import pytest

from tests.support.cost import at_most
from toolspan_bridge.events import Answer, End, Event, ReasoningDelta, TextDelta
from toolspan_bridge.messages import Usage, User
from toolspan_bridge.web.gateway.asked import Asked
from toolspan_bridge.web.gateway.openai_responses.stream import ResponseStream
from toolspan_bridge.web.gateway.pieces import pieces_of
from toolspan_bridge.web.gateway.replies import Begun, Collector

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I24.5.6")]

_PIECE, _MANY = "a" * 10_000, 1_500


@pytest.mark.parametrize("delta", [TextDelta(_PIECE), ReasoningDelta(_PIECE)])
async def test_an_answer_of_many_pieces_is_joined_once(delta: Event) -> None:
    async def events() -> AsyncGenerator[Event]:
        for _ in range(_MANY):
            yield delta
        yield End(Answer("", "m", "p", (), Usage(), 1))

    collector, written = Collector(), ResponseStream(Begun(Asked("m", (User("?"),)), "p/m"))
    size = 0
    with at_most(units=60):
        async for piece in pieces_of(events(), thoughts=True):
            collector.add(piece)
            size += sum(map(len, written.piece(piece)))
    whole = collector.whole
    assert len(whole.text) + len(whole.thoughts) == len(_PIECE) * _MANY
    assert size > len(json.dumps(_PIECE)) * _MANY
