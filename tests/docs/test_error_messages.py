"""The page of error messages has an entry for each code, and the texts that are really printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.docs.error_texts import Texts
from scripts.docs.errors import explained, page
from tests.support.cli import toolspan

CONFIG = """
tools:
  registry:
    - name: guess
      description: Guess
      parameters: {type: object, properties: {size: {type: integer}}, required: [size]}
      implementation: {type: mock, mock_response: 1}
"""


@pytest.mark.requirement("I13.5.4")
@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "heading"),
    [
        ("ask --continue --conversation x", "Command error `usage`"),
        ("ask hello --model offline/none", "Command error `unknown_model`"),
        ("conversations show none", "Command error `usage`"),
        ("tools call guess", "`invalid_parameters`"),
        ("tools call other size=1", "`tool_not_found`"),
    ],
)
def test_what_a_command_prints_is_found_on_the_page_under_its_code(
    command: str, heading: str, tmp_path: Path
) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    ran = toolspan(*command.split(), cwd=tmp_path, HOME=str(tmp_path))
    assert ran.code != 0
    entry = page().partition(f"### {heading}\n")[2].partition("\n### ")[0]
    texts = re.findall(r"^- (?:`` (.+?) ``|`(.+?)`)(?::|$)", entry, re.MULTILINE)
    patterns = [re.escape(one or other).replace("…", ".*") for one, other in texts]
    printed = " ".join(ran.err.split())
    assert any(re.search(pattern, printed) for pattern in patterns if pattern != ".*"), printed


@pytest.mark.requirement("I13.5.4")
@pytest.mark.parametrize(
    ("found", "words"), [({"new": Texts()}, {}), ({}, {"new": "Gone."})], ids=["no words", "no code"]
)
def test_the_page_is_not_written_while_a_code_has_no_words_or_words_have_no_code(
    found: dict[str, Texts], words: dict[str, str]
) -> None:
    with pytest.raises(ValueError, match=r"errors\.yaml .* new"):
        explained(found, words)
