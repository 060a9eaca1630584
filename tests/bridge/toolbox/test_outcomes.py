from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_bridge.toolbox.outcomes import UpstreamResult, failed, outcome

pytestmark = pytest.mark.requirement("I2.6.4")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
META = st.dictionaries(st.text(), JSON)
BLOCKS = st.lists(st.builds(lambda text: {"type": "text", "text": text}, st.text()), max_size=3)


def text(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": each} for each in texts]


def result(**answer: Any) -> Any:
    return dict(outcome("1", "t", UpstreamResult(**answer), 3.5).result)


@pytest.mark.long
@given(
    BLOCKS, st.booleans(), JSON, st.booleans(), st.booleans(), st.none() | st.dictionaries(st.text(), JSON)
)
def test_whatever_a_server_answers_the_result_has_exactly_the_keys_of_a_tool_result(
    content: list[dict[str, Any]], is_error: bool, structured: Any, given: bool, wraps: bool, meta: Any
) -> None:
    told = result(
        content=content,
        is_error=is_error,
        structured=structured,
        has_structured=given,
        wraps=wraps,
        meta=meta,
    )
    keys = ["success", "error", "error_code", "user_action"] if is_error else ["success", "result"]
    assert list(told) == [*keys, "tool_name", "execution_time_ms"]
    assert told["success"] is not is_error


def test_a_text_is_the_result_as_it_is() -> None:
    assert result(content=text("22 °C"))["result"] == "22 °C"


def test_several_texts_are_joined_by_a_newline() -> None:
    assert result(content=text("one", "two"))["result"] == "one\ntwo"


def test_no_content_is_an_empty_text() -> None:
    assert result(content=[])["result"] == ""


def test_structured_content_is_the_result_when_it_is_given_even_if_it_is_null() -> None:
    assert result(content=text("null"), structured=None, has_structured=True)["result"] is None
    assert result(content=text("…"), structured={"a": 1}, has_structured=True)["result"] == {"a": 1}


def test_mixed_content_is_the_list_of_its_blocks_and_every_block_is_a_part() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    told = outcome("1", "t", UpstreamResult(content=[*text("a dot"), image]), 1.0)
    assert told.result["result"] == [*text("a dot"), image]
    assert [part.type for part in told.parts] == ["text", "image"]
    assert told.parts[1].data == image


@pytest.mark.parametrize("value", [[1, 2], 5, None, True, "hi", []])
def test_a_value_that_had_to_be_wrapped_is_unwrapped_when_the_text_shows_it(value: Any) -> None:
    shown = value if isinstance(value, str) else json.dumps(value)
    told = result(content=text(shown), structured={"result": value}, has_structured=True, wraps=True)
    assert told["result"] == value


@pytest.mark.parametrize("shown", ['{"result": 4}', "four", ""])
def test_an_object_that_only_looks_wrapped_stays_as_it_is(shown: str) -> None:
    told = result(content=text(shown), structured={"result": 4}, has_structured=True, wraps=True)
    assert told["result"] == {"result": 4}


def test_nothing_is_unwrapped_where_the_protocol_takes_any_value() -> None:
    assert result(content=text("4"), structured={"result": 4}, has_structured=True)["result"] == {"result": 4}


ERROR = {"success": False, "error": "No such city", "error_code": "no_city", "user_action": "Name another."}


@pytest.mark.parametrize(
    "answer",
    [
        {"content": text(json.dumps(ERROR))},
        {"content": text("?"), "structured": ERROR, "has_structured": True},
        {"content": text(json.dumps({**ERROR, "tool_name": "theirs", "execution_time_ms": 9}))},
    ],
)
def test_a_server_s_error_object_is_passed_through(answer: dict[str, Any]) -> None:
    assert result(**answer, is_error=True) == {**ERROR, "tool_name": "t", "execution_time_ms": 3.5}


def test_any_other_error_is_its_text_with_what_to_do() -> None:
    told = result(content=text("it broke", " "), is_error=True)
    assert (told["error"], told["error_code"]) == ("it broke", "tool_error")
    assert "correct the arguments" in told["user_action"]


def test_an_error_without_words_still_says_something() -> None:
    assert result(content=[], is_error=True)["error"] == "The tool reported an error without a message."


@pytest.mark.parametrize(
    ("meta", "expected"), [(None, 3.5), ({"execution_time_ms": 12}, 12), ({"execution_time_ms": "12"}, 3.5)]
)
def test_the_server_s_own_time_beats_the_measured_one(meta: Any, expected: float) -> None:
    assert result(content=[], meta=meta)["execution_time_ms"] == expected


def test_a_call_that_never_reached_a_server_fails_in_the_same_shape() -> None:
    told = failed("1", "t", "gone", "server_unavailable", "Start it.")
    assert told.failed and list(told.result) == [*ERROR, "tool_name", "execution_time_ms"]
