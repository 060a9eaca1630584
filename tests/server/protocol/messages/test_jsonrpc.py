"""Lines of bytes to messages: whatever comes in, a message or one refusal comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolspan_server.protocol.messages import jsonrpc
from toolspan_server.protocol.messages.jsonrpc import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Overlong,
    Refusal,
    encode,
    read_message,
)

REQUEST = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "t"}}


def refusal_of(line: bytes | Overlong) -> Refusal:
    with pytest.raises(Refusal) as refused:
        read_message(line)
    return refused.value


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
    assert "at most 77 bytes" in refusal_of(Overlong(b"", b"", 77)).message


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


@pytest.mark.requirement("I3.1.1")
@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize(
    "around", ['{"x":%s}', '{"x": [1, %s]}', "%s", '{"x":"\u00e9\u00e9\u00e9",  "y": %s }']
)
def test_a_number_that_json_does_not_have_is_named(word: str, around: str) -> None:
    assert refusal_of((around % word).encode()).message.startswith(f"Parse error: {word} is no JSON value")


@pytest.mark.requirement("I3.1.1")
@pytest.mark.parametrize("opened", [b"[", b'{"a":'])
def test_nesting_over_the_limit_is_told_the_limit(opened: bytes) -> None:
    closed = b"]" if opened == b"[" else b"}"
    assert jsonrpc.parse(opened * 64 + b"1" + closed * 64) is not None
    for depth in (65, 150, 300, 100_000):
        message = b'{"jsonrpc":"2.0","id":"deep","method":"x","params":%s1%s}'
        refusal = refusal_of(message % (opened * depth, closed * depth))
        assert (refusal.code, refusal.request_id) == (PARSE_ERROR, "deep")
        assert "more than 64 levels" in refusal.message


def test_brackets_in_strings_are_no_nesting() -> None:
    text = r"\"[[[[{{{{\\" * 100
    line = b'{"a":"%s","b":["%s"]}' % (text.encode(), text.encode())
    assert jsonrpc.parse(line) == (json.loads(line),)


@pytest.mark.requirement("I3.1.1")
def test_more_objects_and_arrays_than_any_tool_takes_are_refused_before_they_are_built() -> None:
    refusal = refusal_of(b'{"method":"x","params":{"x":[%s[]]},"jsonrpc":"2.0","id":8}' % (b"{}," * 20_000))
    assert (refusal.code, refusal.request_id) == (PARSE_ERROR, 8)
    assert "20,000 objects and arrays" in refusal.message


@pytest.mark.requirement("I3.1.1")
@pytest.mark.parametrize("value", [b"1", b'"a"'])
def test_more_values_than_any_tool_takes_are_refused_before_they_are_built(value: bytes) -> None:
    line = b'{"jsonrpc":"2.0","id":8,"method":"x","params":{"x":[%s1]}}' % (b"%s," % value * 100_000)
    refusal = refusal_of(line)
    assert (refusal.code, refusal.request_id) == (PARSE_ERROR, 8)
    assert "100,000 values" in refusal.message


def test_commas_in_strings_are_no_values() -> None:
    line = b'{"a":"%s"}' % (b"," * 200_000)
    assert jsonrpc.parse(line) == (json.loads(line),)


@pytest.mark.requirement("I3.1.1")
def test_an_integer_that_is_too_long_is_told_the_limit() -> None:
    refusal = refusal_of(b'{"jsonrpc":"2.0","method":"x","params":{"x":%s},"id":9}' % (b"9" * 5_000))
    assert refusal.message == "Parse error: a number has more than 4,000 digits"


@pytest.mark.requirement("I3.1.1")
@pytest.mark.parametrize(
    ("head", "tail", "found"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"yyy', b"yyy", 7),
        (b' { "id" : "a-1" , "jsonrpc": "2.0', b"", "a-1"),
        (b'{"id":7}', b"", 7),
        (b'{"method":"tools/call","params":{"x":"yyy', b'yyy"},"jsonrpc":"2.0","id":-3}', -3),
        (b'{"params":{"x":"yyy', b'yyy"}, "id": "b" , "method":"ping", "jsonrpc":"2.0" } \r', "b"),
        (b'{"jsonrpc":"2.0","id":7', b"", None),
        (b'{"jsonrpc":"2.0","params":{"id":7,"x":"yyy', b"yyy", None),
        (b'{"params":{"x":"yyy', b'yyy","id":7}}', None),
        (b'{"params":{"x":"yyy', b'yyy"},"id":1.5}', None),
        (b'{"params":{"x":"yyy', b'yyy"},"id":"\xff"}', None),
        (b'{"id":"\\x","method":"y","params":{', b"", None),
    ],
)
def test_the_id_of_a_line_over_the_limit_is_read_from_its_ends(
    head: bytes, tail: bytes, found: int | str | None
) -> None:
    refusal = refusal_of(Overlong(head, tail))
    assert (refusal.code, refusal.request_id) == (INVALID_REQUEST, found)


def test_of_duplicate_keys_the_last_counts() -> None:
    message = read_message(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"ping"}')
    assert message == {"jsonrpc": "2.0", "id": 2, "method": "ping"}


json_text = st.recursive(
    st.sampled_from(
        [b"1", b"-0", b"1e400", b"NaN", b'"a"', b'"\\ud800"', b'"\xff"', b'"\\', b"null", b"tru"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: b"[" + b",".join(items) + b"]")
        | st.lists(inner, max_size=3).map(lambda items: b'{"id":' + b',"x":'.join([b"5", *items]) + b"}")
        | inner.map(lambda item: b"[" * 70 + item)
    ),
    max_leaves=6,
)


@pytest.mark.requirement("I3.1.1")
@given(line=json_text)
def test_anything_like_json_gives_a_message_or_one_answerable_refusal(line: bytes) -> None:
    wrapped = b'{"jsonrpc":"2.0","id":"q","method":"ping","params":{"x":%s}}' % line
    for each in (line, wrapped, line + wrapped):
        try:
            read_message(each)
        except Refusal as refusal:
            answer = json.loads(encode(refusal.answer()))
            assert answer["error"]["code"] in (PARSE_ERROR, INVALID_REQUEST)
            assert each is not wrapped or answer.get("id") in ("q", None)


@given(request_id=st.integers() | st.text())
def test_an_answer_is_framed_under_its_id(request_id: int | str) -> None:
    assert json.loads(jsonrpc.framed(request_id, '{"a":1}')) == {
        "jsonrpc": "2.0",
        "id": request_id,
        "result": {"a": 1},
    }


@given(
    st.recursive(
        st.text(alphabet='a,[]{}:"\\'),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='b,]"\\'), inner),
    )
)
def test_what_stands_in_strings_is_never_counted(value: Any) -> None:
    def marks(node: Any) -> int:
        if isinstance(node, str):
            return 0
        items = list(node.values()) if isinstance(node, dict) else node
        return 2 + sum(map(marks, items))

    assert len(jsonrpc._outside_strings(json.dumps(value, ensure_ascii=False).encode())) == marks(value)
