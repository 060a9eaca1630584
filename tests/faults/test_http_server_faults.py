"""Each fault of a server over Streamable HTTP and HTTP+SSE, in a turn: every call has one result, none is
made twice, the other server's calls succeed, and the server is reached again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.faults.test_server_faults import (
    BESIDE,
    EITHER,
    NAMELESS,
    SHORT_SECONDS,
    SUCCEEDS,
    another_provider,
    turns_of,
)
from tests.support.faults import Model, ask, calls_made, check_consistent, outcomes, servers
from tests.support.formats import Wire
from tests.support.mcp_peers import faulty_over_http
from tests.support.mcp_servers.faulty_http import JSON_LIES, MESSAGE_FAULTS, OF_BOTH, TRANSPORT_FAULTS
from tests.support.waiting import BOUND_S
from tests.support.wire_peers import FORMATS, Peer
from toolspan_bridge.events import End
from toolspan_bridge.messages import Message
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.anyio, pytest.mark.long, pytest.mark.requirement("I12.6.4", "I12.6.8")]

OPEN = {"bad UTF-8"}
"""Faults after which it is left open over HTTP: what cannot be decoded is replaced."""

AT_ONCE = {*NAMELESS, "garbage only", "garbage before", "another's id"}
"""What ends a stream of Streamable HTTP, which no answer can follow then."""

NOBODYS = {*NAMELESS, "garbage only"}
"""What belongs to no request of several between the events of HTTP+SSE, which are of all."""

LYING = {*AT_ONCE, *JSON_LIES, "neither", "null", "odd error", "bare NaN", "endless event"}
"""What is said to be no answer to the call."""

ANSWERED = {**SUCCEEDS, "drips": "drop by drop", "as JSON": "as JSON"}
LATE = {"hangs", "hangs before its answer", "hangs in its stream"}
PLACES = ("alone", "first of three", "last of three", BESIDE, "in the second turn")


def cases() -> Iterator[Any]:
    for way in ("http", "sse"):
        for fault in ("another's id",) if way == "http" else sorted(NOBODYS):
            yield pytest.param(way, fault, BESIDE, id=f"{way}-{fault}-beside")
        transport = TRANSPORT_FAULTS if way == "http" else OF_BOTH
        for number, fault in enumerate((*MESSAGE_FAULTS, *transport)):
            yield pytest.param(way, fault, PLACES[number % len(PLACES)], id=f"{way}-{fault}")


@pytest.mark.parametrize(("way", "fault", "place"), list(cases()))
async def test_a_fault_over_http_costs_one_result_and_nothing_else(
    tmp_path: Path, way: str, fault: str, place: str
) -> None:
    name = FORMATS[len(fault) % len(FORMATS)]
    wire, turns = Wire(name), turns_of(place, fault)
    transcript: list[Message] = []
    beside = way == "sse" and place == BESIDE
    late = fault in (LATE if way == "http" else LATE | {"accepted only"}) or (beside and fault in NOBODYS)
    seconds = SHORT_SECONDS if late else 30.0
    with (
        faulty_over_http(way, tmp_path / "s.log", name="s", call_timeout=seconds) as spec,
        Model(wire, turns) as model,
        anyio.fail_after(BOUND_S),
    ):
        both = [spec, *servers(tmp_path, other=BOUND_S)]
        async with (
            aclosing(Peer(name, model.url)) as peer,
            Toolbox.connect(both, connect_timeout=BOUND_S) as toolbox,
        ):
            assert toolbox.failures == ()
            end = (await ask("Hello?", wire, peer, toolbox, transcript))[-1]
            assert isinstance(end, End) and end.answer.content == "Done."
    check_consistent(transcript)
    found = dict(zip((call[0] for turn in turns for call in turn), outcomes(transcript), strict=True))
    for each in ("o1", "o2", "o3", "before", "after"):
        if each in found:
            assert found[each].result["success"], (each, found[each].result)
    bad = found["bad"].result
    if fault in ANSWERED and (beside or fault not in AT_ONCE):
        assert bad["success"] and bad["result"] == ANSWERED[fault], bad
    elif fault not in EITHER | OPEN:
        assert not bad["success"], bad
        assert (bad["error_code"] == "timeout") == late, bad
        assert "\x1b" not in bad["error"] and "Traceback" not in bad["error"]
        assert "pydantic" not in bad["error"] and "SSE" not in bad["error"], bad
        lying = fault in LYING and not (way == "sse" and fault == "endless event")
        assert ("server 's' sent " in bad["error"]) == lying, bad
    for server in ("s", "other"):
        made = calls_made(tmp_path, server)
        if fault == "session lost":  # the server says that it carried out nothing, so it is asked once more
            made = list(dict.fromkeys(made))
        assert len(made) == len(set(made)), f"made twice: {made}"
    await another_provider(transcript, FORMATS[(FORMATS.index(name) + 1) % len(FORMATS)])
