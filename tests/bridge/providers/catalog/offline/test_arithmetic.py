"""Arithmetic in a text."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_bridge.providers.catalog.offline._arithmetic import expression


@pytest.mark.requirement("I2.8.5")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Calculate 15% tip on $45", "45 * 15 / 100"),
        ("a 15% tip for a bill of $45", "45 * 15 / 100"),
        ("15 percent of 80", "80 * 15 / 100"),
        ("20% discount on 1,200", "1200 * 20 / 100"),
        ("What's 2+2?", "2+2"),
        ("square root of 16", "sqrt(16)"),
        ("what is 12 times 7", "12 * 7"),
        ("two plus two", "2 + 2"),
        ("thirty-one minus five", "31 - 5"),
        ("What is (3 + 4) * 2?", "(3 + 4) * 2"),
        ("2^10", "2**10"),
        ("3 × 4 ÷ 2", "3 * 4 / 2"),
        ("half of 30", "30 / 2"),
        ("7 mod 4", "7 % 4"),
        ("sine of 30", "sin(30)"),
        ("max(3, 4) please", "max(3, 4)"),
        ("add 1 and then 7+8+9", "7+8+9"),
    ],
)
def test_words_and_signs_become_one_expression(text: str, found: str) -> None:
    assert expression(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What's the weather in Paris?",
        "on 2024-05-06 at 10:30",
        "on 5/6/2024",
        "call 555-1234",
        "see https://example.org/1/2",
        "write to 1+2@example.org",
        "between 10 and 20",
        "((((",
        "5 -",
        "seven",
    ],
)
def test_what_is_no_sum_gives_none(text: str) -> None:
    assert expression(text) == ""


@given(text=st.text(alphabet="0123456789+-*/%().,$ sqrtpiofx", max_size=80))
def test_what_is_found_is_always_an_expression(text: str) -> None:
    if found := expression(text):
        ast.parse(found, mode="eval")


@given(text=st.text(max_size=3000))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(expression(text), str)
