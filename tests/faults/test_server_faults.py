"""Each fault of a server at each place of a turn: every call has one result, none is made twice, the other
server's calls succeed, and the conversation goes on with the same provider and another one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.faults import (
    Call,
    Model,
    ask,
    calls_made,
    check_consistent,
    outcomes,
    servers,
)
from tests.support.formats import Wire
from tests.support.mcp_servers.faulty import ESCAPES, FAULTS, INJECTION
from tests.support.waiting import BOUND_S
from tests.support.wire_peers import FORMATS, Peer
from toolspan_bridge.events import End, ToolCallFinished
from toolspan_bridge.messages import Message
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.6.1", "I12.6.8")]

SUCCEEDS = {
    "twice": "first",
    "garbage before": "after garbage",
    "others' id": "stolen",
    "escapes": ESCAPES,
    "surrogate": "\ufffd",
    "injection": INJECTION,
    "stops reading": "the last words",
    "drips": "drop by drop",
    "cancels it": "all the same",
    "floods of sampling": "after the questions",
    "floods of elicitation": "after the questions",
    "floods of roots": "after the questions",
    "floods of nonsense": "after the questions",
    "floods of logs": "after the flood",
    "floods of progress": "after the flood",
    "floods of changes": "after the flood",
}
"""Faults with which the call still succeeds, and what its result is; with every other one it fails."""

TIMES_OUT = {"half an answer", "hangs", "garbage only"}
NAMELESS = {"wrong id", "no id", "object as id"}
"""Answers that are to no request: the failure of the call where it is the only one, and else unheard."""

BESIDE = "beside one that waits"
SHORT_SECONDS = 4.0
EITHER = {"id as text", "error and result", "unknown block", "endless digits", "deep"}
"""Faults after which the protocol leaves it open whether there is a result."""

SPOILS = {"stops reading", "half an answer"}
"""Faults after which the server itself is of no use, though it runs."""

PLACES = ("alone", "first of three", "last of three", BESIDE, "in the second turn")
QUICK = ("killed", "dies mid answer", "others' id", "bare NaN", "neither")


def turns_of(place: str, fault: str) -> list[list[Call]]:
    """The calls of each turn. The server ``s`` has the fault, ``other`` has none."""
    bad: Call = ("bad", "s__act", {"note": "bad", "fault": fault})
    other: Call = ("o1", "other__act", {"note": "o1"})
    more: Call = ("o2", "other__act", {"note": "o2"})
    again: list[Call] = [("after", "s__act", {"note": "after"}), ("o3", "other__act", {"note": "o3"})]
    match place:
        case "alone":
            return [[bad], again]
        case "first of three":
            return [[bad, other, more], again]
        case "last of three":
            return [[other, more, bad], again]
        case "beside one that waits":
            return [[("wait", "s__act", {"note": "wait", "fault": "waits"}), bad, other], again]
        case _:
            return [[("before", "s__act", {"note": "before"}), other], [bad], again]


def cases() -> Iterator[Any]:
    """All of them; ``make test`` runs one place of a few faults, the rest takes longer."""
    for number, fault in enumerate(FAULTS):
        for column, place in enumerate(PLACES):
            wire = FORMATS[(number + column) % len(FORMATS)]
            now = fault in QUICK and column == number % len(PLACES)
            marks = [] if now else [pytest.mark.long]
            yield pytest.param(fault, place, wire, id=f"{fault}-{place}-{wire}", marks=marks)


@pytest.mark.parametrize(("fault", "place", "wire_format"), list(cases()))
async def test_a_server_s_fault_costs_one_result_and_nothing_else(
    tmp_path: Path, fault: str, place: str, wire_format: str
) -> None:
    wire, turns = Wire(wire_format), turns_of(place, fault)
    transcript: list[Message] = []
    seconds = SHORT_SECONDS if times_out(fault, place) else BOUND_S
    with Model(wire, turns) as model, anyio.fail_after(BOUND_S):
        async with (
            aclosing(Peer(wire_format, model.url)) as peer,
            Toolbox.connect(servers(tmp_path, s=seconds, other=BOUND_S), connect_timeout=BOUND_S) as toolbox,
        ):
            events = await ask("Hello?", wire, peer, toolbox, transcript)
            end = events[-1]
            assert isinstance(end, End) and end.answer.content == "Done."
            check_consistent(transcript)
            finished = [event.call_id for event in events if isinstance(event, ToolCallFinished)]
            ids = [outcome.call_id for outcome in outcomes(transcript)]
            assert sorted(finished) == sorted(ids)
            assert len(ids) == sum(map(len, turns))
            last = (await ask("And?", wire, peer, toolbox, transcript))[-1]
            assert isinstance(last, End) and last.answer.content == "Still here."
    check_outcomes(transcript, turns, fault, late=times_out(fault, place))
    for server in ("s", "other"):
        made = calls_made(tmp_path, server)
        assert len(made) == len(set(made)), f"made twice: {made}"
    await another_provider(transcript, FORMATS[(FORMATS.index(wire_format) + 1) % len(FORMATS)])


def times_out(fault: str, place: str) -> bool:
    return fault in TIMES_OUT or (fault in NAMELESS and place == BESIDE)


def check_outcomes(transcript: list[Message], turns: list[list[Call]], fault: str, *, late: bool) -> None:
    for outcome in outcomes(transcript):
        assert outcome.result["success"] or outcome.result["error"], outcome
    found = dict(zip((call[0] for turn in turns for call in turn), outcomes(transcript), strict=True))
    for name in ("o1", "o2", "o3", "before"):
        if name in found:
            assert found[name].result["result"] == f"done {name}"
    bad = found["bad"].result
    if fault in SUCCEEDS:
        assert bad["success"] and bad["result"] == SUCCEEDS[fault], bad
    elif fault not in EITHER:
        assert not bad["success"], bad
        assert (bad["error_code"] == "timeout") == late or fault in SPOILS, bad
    if fault in NAMELESS | {"garbage only"}:
        assert "server 's' sent " in bad["error"], bad
        assert ("; meanwhile" in bad["error"]) == late, bad
    after = found["after"].result
    assert after["success"] or fault in SPOILS, after


async def another_provider(transcript: list[Message], wire_format: str) -> None:
    """The conversation goes on with another provider, to whose rules all of it is held."""
    wire = Wire(wire_format)
    with Model(wire, []) as model:
        async with aclosing(Peer(wire_format, model.url)) as peer:
            last = (await ask("And?", wire, peer, Toolbox(()), transcript))[-1]
    assert isinstance(last, End) and last.answer.content == "Still here."
