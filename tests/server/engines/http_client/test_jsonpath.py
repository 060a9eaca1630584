"""What a response path gives, and that it is never code."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.cost import at_most
from toolspan_server.engines.http_client._jsonpath import ResponsePath
from toolspan_server.errors import ToolFailure

pytestmark = pytest.mark.requirement("I4.2.3", "I4.4.1")

DATA: Any = {"a": {"b": None, "c": [1, 2, 3]}, "rows": [{"n": "x", "v": 1}, {"n": "yy", "v": 2}], "p": "y+"}


@pytest.mark.parametrize(
    ("path", "result"),
    [
        ("$", DATA),
        ("$.a.b", None),
        ("$['a']['c'][-1]", 3),
        ("$.a.c[*]", [1, 2, 3]),
        ("$.rows[?@.v > 1].n", ["yy"]),
        ("$..v", [1, 2]),
        ("$.rows[*].missing", []),
        ("$.rows[?match(@.n, $.p)].v", [2]),
        ("$.rows[?search(@.n, '(')].v", []),
        ("$.rows[?length(@.n) == 1].v", [1]),
    ],
)
def test_a_singular_path_gives_its_value_and_any_other_a_list(path: str, result: Any) -> None:
    assert ResponsePath(path).of(DATA) == result


@pytest.mark.parametrize("path", ["$.a.x", "$.a.b.c", "$.rows[9]"])
def test_a_singular_path_that_leads_nowhere_is_a_failure(path: str) -> None:
    with pytest.raises(ToolFailure, match=r"nothing at \$") as caught:
        ResponsePath(path).of(DATA)
    assert caught.value.error_code == "no_match"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a.b",
        "$.a.",
        "$[",
        "$.a | $.b",
        "$[?__import__('os').system('x')]",
        "$[?@.a.b()]",
        "$" + "[?@" * 200,
        "$" * 2000,
    ],
)
def test_what_is_no_path_is_refused_when_it_is_read(path: str) -> None:
    with pytest.raises(ValueError):
        ResponsePath(path)


def test_a_pattern_from_the_answer_takes_no_exponential_time() -> None:
    data = {"p": "(a+)+b", "rows": ["a" * 5_000]}
    with at_most(units=100):
        assert ResponsePath("$.rows[?match(@, $.p)]").of(data) == []


def test_the_number_of_matches_is_limited() -> None:
    with pytest.raises(ToolFailure, match="more than 100,000"):
        ResponsePath("$..*").of([[0] * 1_000] * 200)


def test_a_text_is_not_parsed_again() -> None:
    assert ResponsePath("$").of('{"a": 1}') == '{"a": 1}'
    with pytest.raises(ToolFailure, match="nothing at"):
        ResponsePath("$.a").of('{"a": 1}')
