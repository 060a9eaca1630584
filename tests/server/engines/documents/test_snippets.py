"""The piece of a passage that is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.engines.documents._snippets import (
    CLOSE,
    OPEN,
    SNIPPET_CHARACTERS,
    snippet,
)

pytestmark = pytest.mark.requirement("I2.4.3")


def marked(text: str, *words: str) -> str:
    return " ".join(f"{OPEN}{word}{CLOSE}" if word in words else word for word in text.split(" "))


def test_a_short_passage_is_shown_whole_on_one_line() -> None:
    assert snippet(marked("use the\ncache well", "the\ncache")) == "use the cache well"


def test_the_piece_with_most_different_words_is_chosen() -> None:
    text = (
        "cache "
        + "filler " * 100
        + "cache " * 3
        + "filler " * 100
        + "the cache and its size matter "
        + "end " * 100
    )
    shown = snippet(marked(text, "cache", "size"))
    assert "cache and its size" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_a_piece_starts_and_ends_with_whole_words() -> None:
    words = [f"word{number}" for number in range(300)]
    shown = snippet(marked(" ".join(words), "word150"))
    assert "word150" in shown
    assert set(shown.strip("…").split()) <= set(words)


def test_a_piece_starts_at_a_sentence_when_one_is_near() -> None:
    text = "filler " * 100 + "ends here. The cache is small. " + "filler " * 100
    assert snippet(marked(text, "cache")).startswith("…The cache is small.")


@given(st.lists(st.sampled_from(["cache", "size", "a", "x" * 400, "end.", "\n"]), max_size=200))
def test_no_snippet_is_too_long_or_holds_marks(words: list[str]) -> None:
    shown = snippet(marked(" ".join(words), "cache", "size"))
    assert len(shown) <= SNIPPET_CHARACTERS
    assert OPEN not in shown
    assert CLOSE not in shown
    assert "\n" not in shown
    assert bool(shown) == any(word.strip() for word in words)
