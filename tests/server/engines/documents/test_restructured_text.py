"""reStructuredText: headings by underline and overline."""

from __future__ import annotations

from threading import Event

import pytest

from toolspan_server.engines.documents._document import Document
from toolspan_server.engines.documents._readers import read_document

pytestmark = pytest.mark.requirement("I2.4.3")


def read(text: str) -> Document:
    return read_document("page.rst", text.encode(), Event())


def paths(text: str) -> list[str]:
    return [" > ".join(section.headings) for section in read(text).sections]


def test_the_order_of_styles_gives_the_levels() -> None:
    text = """\
=====
Guide
=====

Install
=======

Use pip.

Linux
-----

Use apt.

Use
===

Run it.
"""
    assert paths(text) == ["Guide > Install", "Guide > Install > Linux", "Guide > Use"]


def test_headings_may_follow_each_other_without_a_blank_line() -> None:
    assert paths("Guide\n=====\nInstall\n-------\nUse pip.\n") == ["Guide > Install"]


def test_an_overlined_style_differs_from_the_underlined_one() -> None:
    assert paths("===\nTop\n===\n\nSub\n===\n\nText.\n") == ["Top > Sub"]


def test_directives_stay_as_text() -> None:
    (section,) = read("Guide\n=====\n\n.. note::\n\n   Mind the gap.\n").sections
    assert ".. note::" in section.text
    assert "Mind the gap." in section.text


@pytest.mark.parametrize(
    "text",
    [
        "Text.\n\n----\n\nMore.\n",
        "two lines\nof text\n-------\n",
        "::\n\n   indented\n   --------\n",
        "+---+---+\n| a | b |\n+---+---+\n",
        "Long title\n--\n",
        "",
    ],
)
def test_what_only_looks_like_a_heading_is_text(text: str) -> None:
    assert set(paths(text)) <= {""}
