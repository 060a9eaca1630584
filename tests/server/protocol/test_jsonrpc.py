"""Lines of bytes to messages: whatever comes in, a message or one refusal comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolspan_server.protocol import jsonrpc
from toolspan_server.protocol.jsonrpc import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Lines,
    Refusal,
    encode,
    read_message,
)

REQUEST = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "t"}}


def refusal_of(line: bytes | None) -> Refusal:
    with pytest.raises(Refusal) as refused:
        read_message(line)
    return refused.value


@given(chunks=st.lists(st.binary(max_size=20)), limit=st.integers(1, 12))
def test_lines_are_cut_alike_however_the_bytes_arrive(chunks: list[bytes], limit: int) -> None:
    lines = Lines(limit)
    got = [line for chunk in chunks for line in lines.feed(chunk)]
    got.append(lines.end())
    expected = [line if len(line) <= limit else None for line in b"".join(chunks).split(b"\n")]
    assert got == expected


def test_a_line_over_the_limit_is_not_kept() -> None:
    lines = Lines(10)
    for _ in range(100):
        assert list(lines.feed(b"x" * 1000)) == []
    assert len(lines._kept) <= 10
    assert list(lines.feed(b"\nnext\n")) == [None, b"next"]


@pytest.mark.parametrize("dressed", [b"%s", b"\xef\xbb\xbf%s", b"%s\r", b"  %s  "])
def test_a_request_is_read_with_a_byte_order_mark_or_a_carriage_return(dressed: bytes) -> None:
    assert read_message(dressed % json.dumps(REQUEST).encode()) == REQUEST


@pytest.mark.parametrize("line", [b"", b"\r", b"   "])
def test_a_blank_line_is_nothing(line: bytes) -> None:
    assert read_message(line) is None


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "a", "method": "ping", "params": None},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}},
    ],
)
def test_notifications_and_responses_pass(message: dict[str, Any]) -> None:
    assert read_message(json.dumps(message).encode()) == message


@pytest.mark.parametrize(
    "line",
    [
        b"rubbish",
        b'{"jsonrpc":"2.0","id":1',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"{'id': 1}",
        b"\x00",
        b"\xff\xfe{}",
        b"\x16\x03\x01\x02",
    ],
    ids=lambda line: repr(line[:12]),
)
def test_what_is_not_json_is_a_parse_error_without_an_id(line: bytes) -> None:
    refusal = refusal_of(line)
    assert (refusal.code, refusal.request_id) == (PARSE_ERROR, None)
    assert "id" not in refusal.answer()


@pytest.mark.parametrize(
    "value", [b"NaN", b"Infinity", b"-Infinity", b'"\\ud800"', b'"\xff"', b'"\x01"', b"[" * 300 + b"]" * 300]
)
def test_an_id_is_found_beside_a_value_that_json_does_not_have(value: bytes) -> None:
    refusal = refusal_of(b'{"jsonrpc":"2.0","id":"q-1","method":"ping","params":{"x":%s}}' % value)
    assert (refusal.code, refusal.request_id) == (PARSE_ERROR, "q-1")
    assert refusal.answer()["id"] == "q-1"


@pytest.mark.parametrize(
    "change",
    [
        {"jsonrpc": "1.0"},
        {"jsonrpc": None},
        {"method": 3},
        {"method": None},
        {"params": []},
        {"params": "x"},
        {"params": False},
    ],
)
def test_a_wrong_shape_is_refused_under_its_id(change: dict[str, Any]) -> None:
    refusal = refusal_of(json.dumps({**REQUEST, **change}).encode())
    assert (refusal.code, refusal.request_id) == (INVALID_REQUEST, 7)


@pytest.mark.parametrize("bad", [None, True, 1.5, [], {}])
def test_an_id_that_no_answer_could_carry_is_refused(bad: Any) -> None:
    refusal = refusal_of(json.dumps({**REQUEST, "id": bad}).encode())
    assert (refusal.code, refusal.request_id) == (INVALID_REQUEST, None)
    assert "'id'" in refusal.message


@pytest.mark.parametrize(
    ("line", "told"),
    [(b"[]", "batches"), (b"1", "a number"), (b'"x"', "a string"), (b"null", "null"), (b"true", "boolean")],
)
def test_what_is_not_an_object_is_told_what_it_is(line: bytes, told: str) -> None:
    refusal = refusal_of(line)
    assert refusal.code == INVALID_REQUEST
    assert told in refusal.message


def test_a_line_over_the_limit_is_told_the_limit() -> None:
    assert str(jsonrpc.MAX_LINE_BYTES) in refusal_of(None).message


@given(line=st.binary())
@example(line=b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":' + b"9" * 5000 + b"}}")
def test_any_bytes_give_a_message_or_one_answerable_refusal(line: bytes) -> None:
    try:
        message = read_message(line)
    except Refusal as refusal:
        assert json.loads(encode(refusal.answer()))["error"]["code"] in (PARSE_ERROR, INVALID_REQUEST)
    else:
        assert message is None or isinstance(message, dict)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            key: st.none()
            | st.booleans()
            | st.integers()
            | st.text()
            | st.just("2.0")
            | st.just({})
            | st.just([])
            for key in ("jsonrpc", "id", "method", "params", "result")
        },
    )
)
def test_every_object_with_a_usable_id_is_read_or_refused_under_it(message: dict[str, Any]) -> None:
    try:
        assert read_message(json.dumps(message).encode()) == message
    except Refusal as refusal:
        usable = isinstance(message.get("id"), int | str) and not isinstance(message["id"], bool)
        assert refusal.request_id == (message["id"] if usable else None)


@given(text=st.text(alphabet=st.characters(exclude_categories=())))
def test_an_answer_is_one_line_of_utf8(text: str) -> None:
    line = encode({"jsonrpc": "2.0", "id": 1, "result": {"text": text}})
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line)["id"] == 1


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {1, 2}, object(), pytest.param(10**5000, id="long"), b"bytes"]
)
def test_an_answer_that_json_cannot_carry_becomes_an_error_with_its_id(value: Any) -> None:
    answer = json.loads(encode({"jsonrpc": "2.0", "id": 9, "result": {"value": value}}))
    assert answer["id"] == 9
    assert answer["error"]["code"] == jsonrpc.INTERNAL_ERROR
