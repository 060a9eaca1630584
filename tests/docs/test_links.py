"""Every link of the documents, as they stand in the repository, leads to a file and a heading."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from scripts.docs.schema_words import slug
from tests.support.documents import ROOT

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.requirement("I10.5.7", "I9.5.4")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(document: Path) -> None:
    assert [link for link in _links(document) if not _leads_somewhere(document, link)] == []


def _links(document: Path) -> list[str]:
    """What the document links to in this repository."""
    tokens = MarkdownIt().enable("table").parse(document.read_text("utf-8"))
    inline = [child for token in tokens for child in token.children or ()]
    links = [str(each.attrs["href"]) for each in inline if each.type == "link_open"]
    return [link for link in links if not re.match(r"[a-z]+:", link)]


def _leads_somewhere(document: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = document.parent / path if path else document
    return target.exists() and (not anchor or anchor in _anchors(target))


@cache
def _anchors(document: Path) -> set[str]:
    tokens = MarkdownIt().parse(document.read_text("utf-8"))
    return {slug(tokens[at + 1].content) for at, token in enumerate(tokens) if token.type == "heading_open"}
