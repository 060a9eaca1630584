"""HTML: text and headings, and markup that means harm."""

from __future__ import annotations

from contextlib import suppress
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cost import at_most
from toolspan_server.engines.documents._document import Document, UnreadableFile
from toolspan_server.engines.documents._readers import TEXT_BYTES, _html, read_document

pytestmark = pytest.mark.requirement("I2.4.3")


def read(text: str) -> Document:
    return read_document("page.html", text.encode(), Event())


def test_headings_make_a_path_and_the_title() -> None:
    document = read(
        "<title>Site</title><h1>Guide</h1><p>Hi.</p><h2>In<em>stall</em></h2><p>Use&nbsp;pip &amp; go.</p>"
    )
    assert [(section.headings, section.text) for section in document.sections] == [
        (("Guide",), "Hi."),
        (("Guide", "Install"), "Use pip & go."),
    ]
    assert document.title == "Guide"
    assert read("<title>Site</title><p>Hi.</p>").title == "Site"


@pytest.mark.parametrize("tag", ["script", "style", "template", "nav"])
def test_what_is_not_for_readers_is_dropped(tag: str) -> None:
    (section,) = read(f"<p>before</p><{tag}>hidden <b>word</b></{tag}><p>after</p>").sections
    assert section.text.split() == ["before", "after"]


def test_blocks_are_paragraphs_and_spaces_are_one() -> None:
    (section,) = read("<p>one\n   two</p><ul><li>three</li><li>four</li></ul>five<br>six").sections
    assert section.text == "one two\n\nthree\n\nfour\n\nfive\nsix"


def test_preformatted_text_keeps_its_lines() -> None:
    (section,) = read("<pre>def f():\n    return 1</pre>").sections
    assert section.text == "def f():\n    return 1"


def test_words_on_both_sides_of_a_parsing_step_stay_whole() -> None:
    word = "x" * 5000
    (section,) = read(f"<p>{word}{word}</p>").sections
    assert section.text == word * 2


@pytest.mark.long
@pytest.mark.parametrize("piece", ["<a", "<!--", "<![", "<!", "</", "<a b='", "<?", "<script>", "&#", "<a/"])
def test_hostile_markup_ends_in_time(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_html, "SECONDS", 0.5)
    with at_most(units=500):
        try:
            read((piece * TEXT_BYTES)[:TEXT_BYTES])
        except UnreadableFile as reason:
            assert str(reason)


def test_reading_ends_when_the_server_stops() -> None:
    stop = Event()
    stop.set()
    with pytest.raises(UnreadableFile, match="stopped"):
        read_document("page.html", b"<p>text</p>", stop)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(UnreadableFile):
        assert all(section.text or section.headings for section in read(text).sections)
