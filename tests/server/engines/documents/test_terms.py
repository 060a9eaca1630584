"""Questions become terms, and terms a safe expression."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.engines.documents._terms import MOST_TERMS, expression, terms

pytestmark = pytest.mark.requirement("I2.4.3")


def test_words_without_meaning_are_left_out() -> None:
    assert terms("Search for Python decorators in the docs") == ["Search", "Python", "decorators", "docs"]


def test_a_question_of_nothing_else_keeps_them() -> None:
    assert terms("what is the") == ["what", "is", "the"]


def test_a_word_counts_once_whatever_its_case() -> None:
    assert terms("Cache cache CACHE") == ["Cache"]


@pytest.mark.parametrize("question", ["", "   ", '"', "***", "\0", "()^-+:{}", "\ud800"])
def test_a_question_without_words_has_no_terms(question: str) -> None:
    assert terms(question) == []


def test_there_is_a_largest_number_of_terms() -> None:
    assert len(terms(" ".join(f"word{number}" for number in range(1000)))) == MOST_TERMS


def test_each_term_is_quoted() -> None:
    assert expression(terms('title:cats NEAR(dogs, 3) OR birds* NOT "x')) == (
        '"title" OR "cats" OR "NEAR" OR "dogs" OR "3" OR "birds" OR "x"'
    )


@given(st.text(max_size=200))
def test_an_expression_is_never_more_than_quoted_words(question: str) -> None:
    words = terms(question)
    if words:
        assert re.fullmatch(r'"[^\W_]+"( OR "[^\W_]+")*', expression(words))
