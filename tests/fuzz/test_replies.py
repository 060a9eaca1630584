"""Providers that answer nonsense, over HTTP and through the whole loop: cut, shuffled, mistyped, enormous.

Whatever comes: the run ends soon, in an answer or an error of our own, and no call is made that did not come
whole.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typing_extensions import override

from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.formats import Wire
from tests.support.provider_settings import instant
from tests.support.scenarios import canned
from tests.support.scenarios.servers import Made
from tests.support.scenarios.tools import TOOLS
from tests.support.waiting import BOUND_S
from tests.support.wire_peers import Peer, streamed
from toolspan_bridge.errors import BridgeError
from toolspan_bridge.events import Answer, End
from toolspan_bridge.formats import format_names
from toolspan_bridge.loop import Question, run
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.long, pytest.mark.requirement("I5.4.6")]

FORMATS = pytest.mark.parametrize("name", format_names())
FUZZED = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PARTS = [
    ("thought", "Where?"),
    ("text", "Så 🌧, "),
    ("call", ("c1", "s__weather", {"city": "Tromsø"})),
    ("call", ("c2", "s__time", {"zone": "CET"})),
]
WHOLE: list[Made] = [("s", "weather", {"city": "Tromsø"}), ("s", "time", {"zone": "CET"})]
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


class Babbler(FakeProvider):
    """Says ``first``, and after that always a plain answer."""

    def __init__(self) -> None:
        super().__init__(anything, ())
        self.first: Sent | None = None
        self.then: Callable[[bool], Sent] = lambda streamed: Sent()

    @override
    def respond(self, request: Received) -> Sent:
        first, self.first = self.first, None
        return first or self.then(request.target.endswith("in-pieces"))


class Trial:
    """Asks a question of a babbling provider; gives what came of it, and the calls that were made."""

    def __init__(self, runner: asyncio.Runner, babbler: Babbler) -> None:
        self._runner = runner
        self._babbler = babbler
        self._peers: dict[str, Peer] = {}

    def __call__(self, name: str, first: Sent) -> tuple[Answer | BridgeError, list[Made]]:
        return self._runner.run(self._ask(name, first))

    async def _ask(self, name: str, first: Sent) -> tuple[Answer | BridgeError, list[Made]]:
        if name not in self._peers:
            self._peers[name] = Peer(name, self._babbler.url, instant(max_bytes=6_000_000))
        body, frames = Wire(name).answers.spoken([("text", "So it is.")])
        self._babbler.first = first
        self._babbler.then = lambda in_pieces: streamed(name, *frames) if in_pieces else Sent(body)
        made: list[Made] = []
        asked = Question("?", "m", stream=first.frames is not None)
        try:
            with anyio.fail_after(BOUND_S):
                events = [
                    event async for event in run(asked, self._peers[name], Toolbox(canned(TOOLS, made)))
                ]
        except BridgeError as error:
            return error, made
        assert isinstance(events[-1], End)
        return events[-1].answer, made

    async def aclose(self) -> None:
        for peer in self._peers.values():
            await peer.aclose()


@pytest.fixture(scope="module")
def trial() -> Iterator[Trial]:
    with asyncio.Runner() as runner, Babbler() as babbler:
        trial = Trial(runner, babbler)
        yield trial
        runner.run(trial.aclose())


@cache
def spoken(name: str) -> tuple[Any, list[bytes]]:
    """The same each time, though ids are counted: what is drawn depends on its length."""
    body, frames = Wire(name).answers.spoken(PARTS)
    return body, frames


@FORMATS
def test_what_came_whole_is_carried_out(name: str, trial: Trial) -> None:
    body, frames = spoken(name)
    for sent in (Sent(body), streamed(name, *frames)):
        answer, made = trial(name, sent)
        assert isinstance(answer, Answer) and answer.content == "So it is."
        assert made == WHOLE


@FORMATS
@FUZZED
@given(data=st.data())
def test_a_stream_that_is_cut_carries_out_all_or_nothing(
    name: str, trial: Trial, data: st.DataObject
) -> None:
    whole = b"".join(spoken(name)[1])
    end = data.draw(st.integers(0, len(whole)))
    sent = streamed(name, whole[:end], hang_up=data.draw(st.booleans()))
    _, made = trial(name, sent)
    assert made in ([], WHOLE)
    if made:
        parser = Wire(name).format.parse_stream()
        parser.feed(whole[:end])
        assert not parser.end().incomplete


@FORMATS
@FUZZED
@given(data=st.data())
def test_a_body_that_is_cut_carries_out_nothing(name: str, trial: Trial, data: st.DataObject) -> None:
    whole = json.dumps(spoken(name)[0]).encode()
    outcome, made = trial(name, Sent(whole[: data.draw(st.integers(0, len(whole) - 1))]))
    assert isinstance(outcome, BridgeError) and made == []


@FORMATS
@FUZZED
@given(data=st.data())
def test_a_stream_out_of_order_or_with_other_bytes_ends(name: str, trial: Trial, data: st.DataObject) -> None:
    frames = spoken(name)[1]
    noise = list(Wire(name).answers.NOISE.values())
    count = data.draw(st.integers(0, len(frames)))
    mixed = [*frames[:count], *data.draw(st.permutations(frames[count:])), *noise]
    for frame in data.draw(st.lists(st.sampled_from(frames), max_size=3)):
        mixed.insert(data.draw(st.integers(0, len(mixed))), frame)
    whole = bytearray(b"".join(mixed))
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=3)):
        whole[place] = data.draw(st.sampled_from(b'{}[]":,\n 7nx\xff\x00'))
    _, made = trial(name, streamed(name, bytes(whole)))
    assert len(made) <= 16


@FORMATS
@FUZZED
@given(data=st.data())
def test_a_mistyped_answer_ends(name: str, trial: Trial, data: st.DataObject) -> None:
    body, frames = spoken(name)
    changed = json.loads(json.dumps(body))
    _mistype(changed, data)
    _, made = trial(name, Sent(changed))
    assert len(made) <= 2
    mistyped = [_mistyped_frame(frame, data) if data.draw(_ODDS) else frame for frame in frames]
    _, made = trial(name, streamed(name, *mistyped))
    assert len(made) <= 16


_ODDS = st.integers(0, 7).map(lambda number: number == 0)
_DATA = re.compile(rb"(?m)^((?:data: )?)(\{.*\})$")


def _mistype(value: Any, data: st.DataObject) -> None:
    """Put something else in one or two places of ``value``."""
    for _ in range(data.draw(st.integers(1, 2))):
        at = value
        while True:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if not isinstance(at[key], dict | list) or data.draw(_ODDS):
                at[key] = data.draw(JSON)
                break
            at = at[key]


def _mistyped_frame(frame: bytes, data: st.DataObject) -> bytes:
    """``frame`` with other values in it; binary ones stay, for their sums would not be right."""
    found = _DATA.search(frame.replace(b"\r\n", b"\n"))
    if found is None:
        return frame
    event = json.loads(found[2])
    _mistype(event, data)
    return found[1] + json.dumps(event).encode() + b"\n\n"


@FORMATS
def test_an_enormous_piece_ends_the_answer_and_carries_out_nothing(name: str, trial: Trial) -> None:
    """5 MB without an end, within an answer: an event holds 4 MB at most."""
    frames = spoken(name)[1]
    place = len(frames) // 2
    sent = streamed(name, *frames[:place], b"x" * 5_000_000, *frames[place:])
    outcome, made = trial(name, sent)
    assert made == [] and isinstance(outcome, Answer | BridgeError)


@FORMATS
def test_an_enormous_answer_is_refused(name: str, trial: Trial) -> None:
    """6.5 MB, where 6 may come."""
    body, frames = spoken(name)
    outcome, made = trial(name, Sent(json.dumps({**body, "more": "x" * 6_500_000}).encode()))
    assert isinstance(outcome, BridgeError) and made == []
    noise = max(Wire(name).answers.NOISE.values(), key=len)
    flood = noise * (6_500_000 // len(noise))
    outcome, made = trial(name, streamed(name, frames[0], flood, *frames[1:]))
    assert made == [] and isinstance(outcome, Answer | BridgeError)


@FORMATS
def test_many_calls_are_made_up_to_the_limit(name: str, trial: Trial) -> None:
    calls = [("call", (f"c{number}", "s__time", {"n": number})) for number in range(100)]
    body, frames = Wire(name).answers.spoken(calls)
    for sent in (Sent(body), streamed(name, b"".join(frames))):
        outcome, made = trial(name, sent)
        assert isinstance(outcome, Answer) and len(made) == 16


@FORMATS
def test_an_answer_nested_without_end_ends(name: str, trial: Trial) -> None:
    deep = "[" * 200_000
    for body in (deep.encode(), b'{"a":' * 100_000, b"data: " + deep.encode() + b"\n\n"):
        for sent in (Sent(body), streamed(name, body)):
            outcome, made = trial(name, sent)
            assert isinstance(outcome, BridgeError) and made == []
