"""What every format's streams must do, whatever the pieces that they come in and wherever they are cut.

The streams are in ``tests/support/wires``, one module a format; its ``__init__`` says what each must have."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.formats import Wire
from toolspan_bridge.formats import FormatError, StreamFailed, format_names
from toolspan_bridge.formats.shared.replies.parse import read_arguments
from toolspan_bridge.messages import BROKEN_STOPS, Reply, ToolCall
from toolspan_bridge.messages.deltas import CallDelta, Delta, TextDelta

pytestmark = pytest.mark.requirement("I5.1.2")

CALLS = [("c1", "s__weather", {"city": "Tromsø ☃ 🌨"}), ("c2", "s__time", {})]
TEXT = "Så, 7 °C 🌨 in Tromsø."
SHORT = "Så 🌨 … 7 °C"


@pytest.fixture(params=format_names())
def wire(request: pytest.FixtureRequest) -> Wire:
    return Wire(request.param)


def streams(wire: Wire) -> Iterator[tuple[str, list[bytes], Any]]:
    """Every stream of a format by name: its frames, and the body of the same answer."""
    plain = {
        "text": (TEXT, [], "stop"),
        "text and calls": (TEXT, CALLS, "stop"),
        "calls": ("", CALLS, "stop"),
        "text at its limit": (TEXT, [], "length"),
    }
    for name, answer in plain.items():
        yield name, wire.answers.frames(*answer), wire.answers.answer(*answer)
    for name, (frames, body) in wire.answers.STREAMS.items():
        yield name, frames, body


def standard(wire: Wire, text: str = TEXT, calls: Any = CALLS) -> tuple[list[bytes], Reply]:
    frames = wire.answers.frames(text, calls)
    return frames, settled(wire.format.parse_reply(wire.answers.answer(text, calls)))


def read(wire: Wire, *chunks: bytes) -> Reply:
    parser = wire.format.parse_stream()
    for chunk in chunks:
        parser.feed(chunk)
    return settled(parser.end())


def settled(reply: Reply) -> Reply:
    """``reply`` without what depends on how the same was written: ids that were made up, blanks in JSON, the
    word for its end."""
    message = replace(reply.message, calls=_settled(reply.message.calls))
    return replace(reply, message=message, cut_calls=_settled(reply.cut_calls), finish="")


def _settled(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    return tuple(
        replace(
            call,
            id=f"made up {place}" if call.id.startswith("call_") else call.id,
            raw=call.raw if call.arguments is None else "",
        )
        for place, call in enumerate(calls)
    )


def places_in(whole: bytes) -> range:
    """Every place in a short stream; of a long one some hundreds: its frames are much alike."""
    return range(0, len(whole), 1 + len(whole) // 400)


def split(whole: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(places), len(whole)]
    return [whole[start:end] for start, end in pairwise(edges)]


def test_a_stream_adds_up_to_the_answer(wire: Wire) -> None:
    for name, frames, body in streams(wire):
        expected = settled(wire.format.parse_reply(body))
        assert read(wire, b"".join(frames)) == expected, name
        assert read(wire, *frames) == expected, name


def test_a_stream_may_come_byte_by_byte(wire: Wire) -> None:
    for name, frames, body in streams(wire):
        whole = b"".join(frames)
        assert read(wire, *split(whole, list(range(len(whole))))) == settled(wire.format.parse_reply(body)), (
            name
        )


def test_a_stream_may_be_split_anywhere(wire: Wire) -> None:
    frames, expected = standard(wire, SHORT, CALLS[:1])
    whole = b"".join(frames)
    for place in places_in(whole):
        assert read(wire, whole[:place], whole[place:]) == expected, place


@pytest.mark.parametrize("name", format_names())
@settings(max_examples=30)
@given(data=st.data())
def test_a_stream_may_come_in_any_pieces(name: str, data: st.DataObject) -> None:
    wire = Wire(name)
    _, frames, body = data.draw(st.sampled_from(list(streams(wire))))
    whole = b"".join(frames)
    places = data.draw(st.lists(st.integers(0, len(whole)), max_size=12))
    assert read(wire, *split(whole, places)) == settled(wire.format.parse_reply(body))


@pytest.mark.requirement("I5.4.5")
def test_a_stream_cut_at_any_byte_keeps_its_text_and_carries_out_nothing(wire: Wire) -> None:
    frames, whole = standard(wire, SHORT, CALLS[:1])
    sent = b"".join(frames)
    longest = 0
    for end in places_in(sent):
        reply = read(wire, sent[:end])
        check_cut(reply, whole, f"cut at {end}")
        assert len(reply.message.text) >= longest or not reply.incomplete
        longest = len(reply.message.text)
    assert longest == len(SHORT)


def test_any_stream_cut_between_or_in_its_frames_is_incomplete(wire: Wire) -> None:
    for name, frames, body in streams(wire):
        whole = settled(wire.format.parse_reply(body))
        for count, frame in enumerate(frames):
            for rest in (b"", frame[:-3], frame[: len(frame) // 2]):
                check_cut(read(wire, *frames[:count], rest), whole, f"{name}: {count} frames and {rest!r}")


def check_cut(reply: Reply, whole: Reply, why: str) -> None:
    """What a cut stream may come to: the whole but for its usage, or something marked as cut and harmless."""
    if not reply.incomplete:
        assert replace(reply, usage=whole.usage) == whole, why
        return
    assert whole.message.text.startswith(reply.message.text), why
    assert reply.message.calls == () and reply.message.opaque is None, why
    names = [call.name for call in (*whole.message.calls, *whole.cut_calls)]
    assert all(call.name in (*names, "") for call in reply.cut_calls if call.arguments), why


def test_a_stream_that_never_began_is_incomplete(wire: Wire) -> None:
    parser = wire.format.parse_stream()
    assert parser.feed(b"") == [] and not parser.finished
    reply = parser.end()
    assert reply.incomplete and reply.message.text == "" and reply.message.calls == ()


def test_what_means_nothing_changes_nothing(wire: Wire) -> None:
    frames, expected = standard(wire)
    for name, noise in wire.answers.NOISE.items():
        noisy = [chunk for frame in frames for chunk in (noise, frame)]
        assert read(wire, *noisy, noise) == expected, name


def test_a_failure_in_mid_stream_is_raised_and_what_came_is_kept(wire: Wire) -> None:
    frames, whole = standard(wire)
    texts: list[str] = []
    for count in range(len(frames)):
        parser = wire.format.parse_stream()
        for frame in frames[:count]:
            parser.feed(frame)
        with pytest.raises(StreamFailed, match="Overloaded, try later") as caught:
            parser.feed(wire.answers.FAILURE)
        assert caught.value.error.retryable
        reply = parser.end()
        assert reply.incomplete
        check_cut(settled(reply), whole, f"failed after {count} frames")
        texts.append(reply.message.text)
    assert texts[-1] == TEXT


def test_a_failure_that_the_stream_ends_with_is_no_whole_answer(wire: Wire) -> None:
    frames, _ = standard(wire)
    parser = wire.format.parse_stream()
    parser.feed(b"".join(frames[:2]))
    with pytest.raises(StreamFailed):
        parser.feed(wire.answers.FAILURE)
    assert parser.end().incomplete


def test_what_follows_the_end_is_ignored(wire: Wire) -> None:
    frames, expected = standard(wire)
    parser = wire.format.parse_stream()
    for frame in frames:
        assert not parser.finished
        parser.feed(frame)
    assert parser.finished
    assert parser.feed(b"".join(frames)) == [] and parser.feed(wire.answers.FAILURE) == []
    assert settled(parser.end()) == expected


def test_the_pieces_that_are_shown_add_up(wire: Wire) -> None:
    for name, frames, body in streams(wire):
        whole = wire.format.parse_reply(body)
        parser = wire.format.parse_stream()
        deltas = [delta for frame in frames for delta in parser.feed(frame)]
        if name != "no blank line at the end":
            said = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
            assert said == whole.message.text, name
            calls = whole.message.calls or whole.cut_calls
            assert called(deltas) == {call.name: call.arguments for call in calls}, name


def called(deltas: list[Delta]) -> dict[str, Any]:
    """The arguments of the calls in ``deltas``, by name."""
    names: dict[int, str] = {}
    arguments: defaultdict[int, str] = defaultdict(str)
    for delta in deltas:
        if isinstance(delta, CallDelta):
            names[delta.index] = delta.name or names.get(delta.index, "")
            arguments[delta.index] += delta.arguments
    return {names[index]: read_arguments(arguments[index])[0] for index in names}


@pytest.mark.requirement("I5.4.6")
@pytest.mark.parametrize("name", format_names())
@settings(max_examples=50)
@given(data=st.data())
def test_a_stream_of_any_bytes_is_read_or_refused_and_never_crashes(name: str, data: st.DataObject) -> None:
    wire = Wire(name)
    frames = data.draw(st.permutations([*standard(wire)[0], *wire.answers.NOISE.values()]))
    whole = bytearray(b"".join(frames))
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=4)):
        whole[place] = data.draw(st.sampled_from(b'{}[]":,\n 7nx\xff\x00'))
    parser = wire.format.parse_stream()
    try:
        parser.feed(bytes(whole))
    except FormatError as error:
        assert len(str(error)) < 400
        assert parser.end().message.calls == ()
        return
    try:
        reply = parser.end()
    except FormatError:
        return
    assert not reply.incomplete or reply.message.calls == ()


DISTURBED = {
    "cut": lambda frames, place: frames[:place],
    "doubled": lambda frames, place: [*frames[: place + 1], *frames[place:]],
    "reordered": lambda frames, place: [
        *frames[:place],
        *frames[place : place + 2][::-1],
        *frames[place + 2 :],
    ],
    "said again": lambda frames, place: [*frames[: place + 1], *frames[:place], *frames[place + 1 :]],
}
RENUMBERED = {"one more": lambda n: n + 1, "all 0": lambda n: 0, "backwards": lambda n: 9 - n}
_NUMBER = re.compile(rb'("(?:output_)?index": ?)(\d+)')


def disturbed(wire: Wire, frames: list[bytes]) -> Reply:
    parser = wire.format.parse_stream()
    try:
        for frame in frames:
            parser.feed(frame)
    except FormatError:
        assert parser.end().incomplete
    return parser.end()


def is_told(reply: Reply) -> bool:
    return (
        reply.incomplete or reply.stop in BROKEN_STOPS or any(not call.is_whole for call in calls_of(reply))
    )


@dataclass(frozen=True)
class Called:
    id: str
    name: str
    arguments: Any

    @property
    def is_whole(self) -> bool:
        return self.arguments is not None


def calls_of(reply: Reply) -> list[Called]:
    return [Called(call.id, call.name, call.arguments) for call in reply.message.calls]


@pytest.mark.requirement("I25.6.1")
@pytest.mark.parametrize("how", DISTURBED)
def test_no_call_is_made_twice_or_lost_in_silence_in_a_stream_that_is_disturbed(wire: Wire, how: str) -> None:
    calls = [("c1", "s__weather", {"city": "Oslo"}), ("c2", "s__time", {})]
    frames, expected = standard(wire, SHORT, calls)
    right = calls_of(expected)
    # What follows the end is no part of the answer; and of a text nobody knows in which order it was meant.
    for place in range(len(frames) - 2 if wire.name != "prompt" or how == "cut" else 0):
        reply = disturbed(wire, DISTURBED[how](frames, place))
        made = calls_of(reply)
        assert len({call.id for call in made}) == len(made), place
        assert {call.name for call in made} <= {call.name for call in right}, place
        # Half a text that is said twice is a text: where the format says it once, nobody can tell.
        whole = [call.name for call in made if call.is_whole]
        assert len(whole) <= len(right), place
        assert sorted(whole) == sorted(call.name for call in right) or is_told(reply), place


@pytest.mark.requirement("I25.6.1")
@pytest.mark.parametrize("numbers", RENUMBERED)
@pytest.mark.parametrize("name", ["openai", "openai-responses"])
def test_calls_are_the_same_however_a_server_numbers_them(name: str, numbers: str) -> None:
    wire = Wire(name)
    frames, expected = standard(wire)
    renumber = RENUMBERED[numbers]

    def written(found: re.Match[bytes]) -> bytes:
        return found[1] + str(renumber(int(found[2]))).encode()

    events = [
        _NUMBER.sub(written, frame) if b"choices" not in frame else _renumbered(frame, renumber)
        for frame in frames
    ]
    reply = disturbed(wire, events)
    assert sorted(calls_of(settled(reply)), key=str) == sorted(calls_of(expected), key=str)
    assert reply.message.text == expected.message.text


def _renumbered(frame: bytes, renumber: Callable[[int], int]) -> bytes:
    """A chunk of Chat Completions with the calls in it renumbered, and not its choices."""
    head, calls, rest = frame.partition(b'"tool_calls"')
    numbered = _NUMBER.sub(lambda found: found[1] + str(renumber(int(found[2]))).encode(), rest, count=1)
    return head + calls + numbered if calls else frame
