"""Passages: short enough, under their heading, with nothing lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.engines.documents._document import Document, Section
from toolspan_server.engines.documents._passages import (
    MOST_PASSAGES,
    PASSAGE_CHARACTERS,
    passages,
    pieces,
)

pytestmark = pytest.mark.requirement("I2.4.3")


def test_a_short_section_is_one_passage_under_its_path() -> None:
    document = Document("Guide", (Section(("Guide", "Install"), "Use pip.\n\nThen run it."),))
    (passage,) = passages(document)
    assert passage.heading == "Guide > Install"
    assert passage.text == "Use pip.\n\nThen run it."


def test_a_long_section_is_cut_between_paragraphs_and_keeps_its_heading() -> None:
    paragraphs = [f"Paragraph {number}. " + "word " * 80 for number in range(10)]
    document = Document("", (Section(("Guide",), "\n\n".join(paragraphs)),))
    found = list(passages(document))
    assert len(found) > 2
    assert {passage.heading for passage in found} == {"Guide"}
    assert all(passage.text.startswith("Paragraph") for passage in found)
    assert all(len(passage.text) <= PASSAGE_CHARACTERS for passage in found)


def test_a_long_paragraph_is_cut_between_lines_then_sentences_then_words() -> None:
    assert pieces("one two\nthree four", 12) == ["one two", "three four"]
    assert pieces("One two. Three four", 12) == ["One two. ", "Three four"]
    assert pieces("one two three four", 12) == ["one two ", "three four"]
    assert pieces("x" * 25, 12) == ["x" * 12, "x" * 12, "x"]


@given(st.text(alphabet="ab .\n", max_size=400), st.integers(min_value=8, max_value=60))
def test_pieces_are_short_and_together_the_whole_text(text: str, size: int) -> None:
    found = pieces(text, size)
    assert all(len(piece) <= size for piece in found)
    assert "".join("".join(found).split()) == "".join(text.split())


def test_a_document_has_a_largest_number_of_passages() -> None:
    sections = tuple(Section((str(number),), "text") for number in range(MOST_PASSAGES + 5))
    assert sum(1 for _ in passages(Document("", sections))) == MOST_PASSAGES
