"""docs/explanation/security.md: it states the model, and names nothing that is not there."""

from __future__ import annotations

import re

import pytest

from tests.support.documents import ROOT
from toolspan_server.config.models.limits import LimitsConfig

PAGE = (ROOT / "docs" / "explanation" / "security.md").read_text("utf-8")
HEADINGS = {
    "Who is trusted",
    "What runs code",
    "Who gets in",
    "What is bounded",
    "Secrets",
    "What is not bounded",
}


@pytest.mark.requirement("I9.5.4")
def test_the_page_says_who_is_trusted_what_is_bounded_and_what_is_not() -> None:
    assert set(re.findall(r"^## (.+)$", PAGE, re.MULTILINE)) >= HEADINGS


@pytest.mark.requirement("I9.5.4")
def test_every_limit_that_the_page_names_is_one() -> None:
    named = set(re.findall(r"`limits\.(\w+)`", PAGE))
    assert named and named <= set(LimitsConfig.model_fields)


@pytest.mark.requirement("I9.5.4")
def test_every_command_of_make_that_the_page_names_is_one() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for verb in re.findall(r"`make ([a-z-]+)`", PAGE):
        assert re.search(rf"^{verb}:", makefile, re.MULTILINE)
