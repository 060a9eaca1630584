"""Every format's parsers on answers that no provider should give: cut, repeated, mistyped, with other bytes.

Whatever comes, there is a reply or a ``FormatError``, whatever pieces it came in; and a reply of any kind can
be sent back in the next turn's request.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.formats import TOOLS, Wire
from tests.support.fuzzing import go_on
from toolspan_bridge.formats import FormatError, format_names
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import (
    Reply,
    Request,
    ToolOutcome,
    ToolResults,
    User,
)

pytestmark = [pytest.mark.long, pytest.mark.requirement("I9.5.2")]
FORMATS = pytest.mark.parametrize("name", format_names())
FUZZED = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
PARTS = [
    ("thought", "Where?"),
    ("text", "Så 🌧, "),
    ("call", ("c1", "s__weather", {"city": "Tromsø"})),
    ("call", ("c2", "s__time", {"zone": "CET"})),
]
BYTES = st.sampled_from([*b'{}[]":,\n 7nx\\', 0, 0x80, 0xFF])
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("aø🌧\ud800\u202e\x1b", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def _streams(draw: st.DrawFn, frames: Sequence[bytes]) -> bytes:
    """``frames`` cut, repeated, out of order or with other bytes here and there."""
    mixed = list(frames[: draw(st.integers(0, len(frames)))])
    for frame in draw(st.lists(st.sampled_from(frames), max_size=4)):
        mixed.insert(draw(st.integers(0, len(mixed))), frame)
    whole = bytearray(b"".join(mixed))
    for _ in range(draw(st.integers(0, 4)) if whole else 0):
        whole[draw(st.integers(0, len(whole) - 1))] = draw(BYTES)
    return bytes(whole[: draw(st.integers(0, len(whole)))] if draw(st.booleans()) else whole)


@st.composite
def _bodies(draw: st.DrawFn, body: Any) -> Any:
    """``body`` with other values, or none, in up to three places."""
    changed = json.loads(json.dumps(body))
    for _ in range(draw(st.integers(0, 3))):
        at = changed
        while at:
            key = draw(st.sampled_from(list(at) if isinstance(at, dict) else list(range(len(at)))))
            if isinstance(at[key], dict | list) and at[key] and draw(st.integers(0, 5)):
                at = at[key]
                continue
            if draw(st.booleans()):
                at[key] = draw(JSON)
            else:
                del at[key]
            break
    return changed


def _streamed(wire: Wire, whole: bytes, pieces: Sequence[int]) -> Reply:
    """The reply of ``whole`` when it comes in pieces of these sizes."""
    parser = wire.format.parse_stream()
    start = 0
    try:
        for size in (*pieces, len(whole)):
            parser.feed(whole[start : start + size])
            start += size
    except FormatError:
        return parser.end()
    return parser.end()


def _goes_back(wire: Wire, reply: Reply) -> None:
    """The next request, with ``reply`` and the results of its calls in it, can be written as JSON."""
    results = tuple(
        ToolOutcome(call.id, call.name, {"success": True, "result": 7, "tool_name": call.name})
        for call in reply.message.calls
    )
    answered = (ToolResults(results),) if results else ()
    messages = (User("?"), reply.message, *answered, User("And now?"))
    body = wire.format.render_request(Request("m", messages, tools=TOOLS), NameTable.of(TOOLS))
    json.dumps(body)


def _parts(wire: Wire) -> tuple[Any, list[bytes]]:
    body, frames = wire.answers.spoken(PARTS)
    return body, list(frames)


@FORMATS
def test_any_stream_ends_in_a_reply_that_can_be_sent_back(name: str) -> None:
    wire = Wire(name)
    frames = _parts(wire)[1]

    @FUZZED
    @given(_streams(frames), st.lists(st.integers(1, 40), max_size=30))
    def examined(whole: bytes, pieces: list[int]) -> None:
        reply = _streamed(wire, whole, pieces)
        assert not (reply.incomplete and reply.message.calls)
        _goes_back(wire, reply)

    go_on(examined)


@FORMATS
def test_the_pieces_that_a_stream_comes_in_do_not_matter(name: str) -> None:
    wire = Wire(name)
    frames = _parts(wire)[1]

    @FUZZED
    @given(_streams(frames), st.lists(st.integers(1, 9), max_size=60))
    def examined(whole: bytes, pieces: list[int]) -> None:
        assert repr(_streamed(wire, whole, pieces)) == repr(_streamed(wire, whole, []))

    go_on(examined)


@FORMATS
def test_any_body_is_a_reply_that_can_be_sent_back_or_is_refused(name: str) -> None:
    wire = Wire(name)

    @FUZZED
    @given(_bodies(_parts(wire)[0]) | JSON)
    def examined(body: Any) -> None:
        try:
            reply = wire.format.parse_reply(body)
        except FormatError:
            return
        _goes_back(wire, reply)

    go_on(examined)


@FORMATS
def test_any_error_answer_is_read(name: str) -> None:
    wire = Wire(name)
    usual = json.loads(wire.answers.error("No such tool 's__time'", "invalid_request_error"))
    texts = (_bodies(usual) | JSON).map(lambda body: json.dumps(body).encode())

    @FUZZED
    @given(
        st.integers(300, 599),
        st.dictionaries(st.sampled_from(["retry-after", "x-amzn-errortype"]), st.text(max_size=9)),
        texts | st.binary(max_size=40),
    )
    def examined(status: int, headers: dict[str, str], body: bytes) -> None:
        error = wire.format.parse_error(status, headers, body)
        assert error.status == status and error.message

    go_on(examined)
