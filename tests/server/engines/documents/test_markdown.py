"""Markdown: what is a heading, and what is not."""

from __future__ import annotations

import re
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.engines.documents._document import Document
from toolspan_server.engines.documents._passages import passages
from toolspan_server.engines.documents._readers import read_document

pytestmark = pytest.mark.requirement("I2.4.3")

WORD = re.compile(r"word\d\d")


def read(text: str) -> Document:
    return read_document("page.md", text.encode(), Event())


def paths(text: str) -> list[str]:
    return [" > ".join(section.headings) for section in read(text).sections]


def test_headings_make_a_path() -> None:
    text = "# Guide\n\n## Install\n\nUse pip.\n\n### Linux\n\nUse apt.\n\n## Use\n\nRun it.\n"
    assert paths(text) == ["Guide > Install", "Guide > Install > Linux", "Guide > Use"]
    assert read(text).title == "Guide"


def test_text_before_the_first_heading_has_no_path() -> None:
    assert paths("Hello.\n\n# One\n\nText.\n") == ["", "One"]


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "  ```"])
def test_a_number_sign_in_fenced_code_is_no_heading(fence: str) -> None:
    text = f"# Code\n\n{fence}python\n# a comment\n\ntitle\n=====\n{fence}\n\n## After\n\nText.\n"
    assert paths(text) == ["Code", "Code > After"]


def test_a_shorter_fence_inside_does_not_end_the_code() -> None:
    assert paths("# Code\n\n````\n```\n# no\n```\n# no\n````\n\n# Yes\n\nText.\n") == ["Code", "Yes"]


def test_setext_headings_are_headings() -> None:
    assert paths("Guide\n=====\n\nText.\n\nInstall\n-------\n\nUse pip.\n") == ["Guide", "Guide > Install"]


@pytest.mark.parametrize(
    "text",
    [
        "Text.\n\n---\n\nMore.\n",
        "- item\n---\n",
        "| a |\n|---|\n| b |\n",
        "    # indented\n",
        "#hashtag\n",
        "####### 7\n",
    ],
)
def test_what_only_looks_like_a_heading_is_text(text: str) -> None:
    assert paths(text) == [""]


def test_marks_in_a_heading_are_not_part_of_its_text() -> None:
    assert paths("## The `cache` of [functools](https://example.org) ##\n\nText.\n") == [
        "The cache of functools"
    ]
    assert paths("# Title {#anchor}\n\nText.\n") == ["Title"]
    assert paths("# C#\n\nText.\n") == ["C#"]


def test_front_matter_gives_the_title_and_is_no_heading() -> None:
    document = read('---\ntitle: "My page"\ntags: [a]\n---\n\nText.\n')
    assert document.title == "My page"
    assert [section.headings for section in document.sections] == [()]


def test_a_heading_without_text_is_still_found() -> None:
    assert paths("# API\n\n## open()\n\n## close()\n") == ["API > open()", "API > close()"]


def test_a_very_long_heading_is_shortened_and_kept_whole_as_text() -> None:
    (section,) = read("# " + "word " * 100 + "last\n").sections
    assert len(section.headings[0]) <= 201
    assert section.text.endswith("last")


LINES = st.sampled_from(
    ["{}", "# {}", "### {} ##", "- {}", "> {}", "    {}", "---", "===", "```", "~~~", "", "| {} |"]
)


@given(st.lists(LINES, max_size=30))
def test_no_word_is_lost_whatever_surrounds_it(lines: list[str]) -> None:
    text = "\n".join(line.format(f"word{number:02}") for number, line in enumerate(lines))
    found = {
        word for passage in passages(read(text)) for word in WORD.findall(f"{passage.heading} {passage.text}")
    }
    assert found == set(WORD.findall(text))


@given(st.text(alphabet="#=-`~\n>[](){}ab .:", max_size=200))
def test_any_mixture_of_marks_can_be_read(text: str) -> None:
    for section in read(text).sections:
        assert section.text.strip() or section.headings
