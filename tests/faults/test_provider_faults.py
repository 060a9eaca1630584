"""Each fault of a provider at each point of a stream, in each turn of a conversation: no call is made twice,
each has one result, what came is kept, and the conversation goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from tests.support.fake_providers import Sent
from tests.support.faults import Call, Model, ask, check_consistent, outcomes
from tests.support.formats import Wire
from tests.support.provider_settings import instant
from tests.support.scenarios import Tool, canned
from tests.support.scenarios.servers import Made
from tests.support.waiting import BOUND_S
from tests.support.wire_peers import FORMATS, Peer, streamed
from toolspan_bridge.errors import BridgeError
from toolspan_bridge.events import End
from toolspan_bridge.messages import Message
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.6.2")]

IDLE_SECONDS = 0.3
MOST_POINTS = 5
ACT = Tool("act")
TURNS: list[list[Call]] = [
    [("a", "s__act", {"note": "first"}), ("b", "s__act", {"note": "second of the turn"})],
    [("c", "s__act", {"note": "third"})],
]
ANSWERED = {0: TURNS[0], 2: TURNS[1], 3: []}
"""How many results a request of each turn holds, and the calls that are its answer."""


def cut(wire: Wire, frames: list[bytes]) -> Sent:
    return streamed(wire.name, *frames, hang_up=True)


def stalled(wire: Wire, frames: list[bytes]) -> Sent:
    return streamed(wire.name, *frames, stall=True)


def failed(wire: Wire, frames: list[bytes]) -> Sent:
    return streamed(wire.name, *frames, wire.answers.FAILURE)


def nonsense(wire: Wire, frames: list[bytes]) -> Sent:
    return streamed(wire.name, *frames, b"\x00\xff\xfe<html>\n\n", hang_up=True)


def ended(wire: Wire, frames: list[bytes]) -> Sent:
    """The stream ends as if it was whole."""
    return streamed(wire.name, *frames)


FAULTS: dict[str, Callable[[Wire, list[bytes]], Sent]] = {
    "is cut": cut,
    "stalls": stalled,
    "fails": failed,
    "becomes nonsense": nonsense,
    "ends too early": ended,
}


def points(frames: list[bytes]) -> list[list[bytes]]:
    """The stream as far as some of its frames, and half into each: the first, the last, some between."""
    step = max(1, len(frames) // MOST_POINTS)
    chosen = sorted({*range(0, len(frames), step), len(frames) - 1})
    begun = (
        (frames[:index], [*frames[:index], frames[index][: len(frames[index]) // 2]]) for index in chosen
    )
    return [each for pair in begun for each in pair]


def cases() -> Iterator[Any]:
    """All of them; ``make test`` runs one turn of each format, with another fault for each."""
    for row, wire_format in enumerate(FORMATS):
        for column, fault in enumerate(FAULTS):
            for place, results in enumerate(ANSWERED):
                now = column == row % len(FAULTS) and place == (row + 1) % len(ANSWERED)
                marks = [] if now and fault != "stalls" else [pytest.mark.long]
                case = f"{wire_format}-{fault}-{results}"
                yield pytest.param(wire_format, fault, results, id=case, marks=marks)


@pytest.mark.parametrize(("wire_format", "fault", "results"), list(cases()))
async def test_a_stream_that_goes_wrong_at_any_point_costs_no_call_and_doubles_none(
    wire_format: str, fault: str, results: int
) -> None:
    wire = Wire(wire_format)
    text = "" if ANSWERED[results] else "Done."
    frames = wire.answers.frames(text, ANSWERED[results])
    for begun in points(frames):
        await one_point(wire, fault, results, FAULTS[fault](wire, begun))


async def one_point(wire: Wire, fault: str, results: int, trouble: Sent) -> None:
    transcript: list[Message] = []
    came: list[Made] = []
    toolbox = Toolbox(canned([ACT], came))
    idle = IDLE_SECONDS if fault == "stalls" else BOUND_S
    with Model(wire, TURNS, {results: [trouble]}) as model, anyio.fail_after(BOUND_S):
        async with aclosing(Peer(wire.name, model.url, instant(idle=idle, read=idle))) as peer:
            try:
                end = (await ask("Hello?", wire, peer, toolbox, transcript, in_pieces=True))[-1]
                assert isinstance(end, End)
                assert end.answer.content == "Done." or end.answer.reason, end.answer
            except BridgeError as error:
                assert str(error) and "\n" not in str(error)
            check_consistent(transcript)
            made = [str(arguments["note"]) for *_, arguments in came]
            assert len(made) == len(set(made)) == len(list(outcomes(transcript))), made
            assert all(outcome.result["success"] for outcome in outcomes(transcript))
            last = (await ask("And?", wire, peer, toolbox, transcript, in_pieces=True))[-1]
            assert isinstance(last, End) and last.answer.content == "Still here."
            assert len(came) == len(made)
            check_consistent(transcript)
