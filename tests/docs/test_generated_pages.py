"""The generated pages of the documentation say what the code does now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from scripts.docs import config_file
from scripts.docs.pages import PAGES
from tests.support.documents import ROOT


@pytest.mark.requirement("I10.5.6", "I5.4.7")
@pytest.mark.parametrize("path", PAGES)
def test_a_generated_page_is_what_its_generator_writes(path: str) -> None:
    assert (ROOT / path).read_text("utf-8") == PAGES[path](), "run `make reference`"


@pytest.mark.requirement("I10.5.6")
def test_every_key_of_the_config_file_has_its_entry_with_its_description() -> None:
    page = " ".join(config_file.page().split())
    keys = list(_keys(json.loads(config_file.SCHEMA.read_text("utf-8"))))
    assert len(keys) > 300
    for name, schema in keys:
        assert f"- **`{name}`**: " in page
        assert " ".join(schema.get("description", "").split()) in page


def _keys(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (schema, *schema["$defs"].values()):
        yield from part.get("properties", {}).items()


@pytest.mark.requirement("I10.5.6")
@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("a number in a range", "- **`max_iterations`**: integer, 1 to 100, or `${VAR}`; default `5`"),
        ("a choice", '- **`theme`**: one of `"light"`, `"dark"`'),
        (
            "a list of a section",
            "- **`icons`**: list of [object](#toolsregistryicons); default `[]`",
        ),
        ("a map", "- **`providers`**: map of names to [object](#providersname)"),
        ("what is required", "- **`description`**: string, not empty; required"),
    ],
)
def test_an_entry_says_what_a_value_may_be(key: str, entry: str) -> None:
    assert any(line.strip() == entry for line in config_file.page().splitlines()), key
