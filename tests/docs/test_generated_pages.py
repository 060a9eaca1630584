"""The generated pages of the documentation say what the code does now."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from scripts.docs import config_file, families
from scripts.docs.pages import PAGES
from tests.support.documents import ROOT
from toolspan_bridge.formats import format_names
from toolspan_bridge.formats.shared.claude import models
from toolspan_bridge.providers.compatible.rows import row_names, row_of


@pytest.mark.long
@pytest.mark.requirement("I10.5.6", "I5.4.7")
@pytest.mark.parametrize("path", PAGES)
def test_a_generated_page_is_what_its_generator_writes(path: str) -> None:
    assert (ROOT / path).read_text("utf-8") == PAGES[path](), "run `make reference`"


@pytest.mark.requirement("I11.6.2")
def test_the_page_of_formats_has_a_line_with_its_proof_for_every_format_provider_and_family_of_claude() -> (
    None
):
    page = (ROOT / "docs/reference/formats.md").read_text("utf-8")
    proofs = [
        line for line in page.splitlines() if re.search(r"\| (not yet recorded|recorded on 20.*) \|$", line)
    ]
    speakers = [name for name in row_names() if "openai" in (row_of(name).format, row_of(name).other)]
    for name in (*format_names(), *speakers):
        assert any(line.startswith(f"| `{name}`") for line in proofs), name
    assert {models.family(name) for name in families.FAMILIES["anthropic"]} == {*_claude_families()}


def _claude_families() -> Iterator[models.Family]:
    """The family of every line of Claude's models in each version that there may be of it."""
    for line in ("fable", "mythos", "opus", "sonnet", "haiku"):
        for version in ("3", "3-5", "3-7", "4", "4-5", "4-6", "4-7", "5", "5-5"):
            yield models.family(f"claude-{line}-{version}")


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
        ("a number in a range", "- **`max_parallel`**: integer, 1 to 64, or `${VAR}`; default `16`"),
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
