"""README and docs say what is so: every code block in them runs and prints what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.documents import ROOT, Block, Reader, blocks

DOCUMENTS = [
    pytest.param(path, marks=pytest.mark.long)
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
]


@pytest.mark.requirement("I2.1.4")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_reader_who_follows_the_document_sees_what_it_shows(document: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path, shell=document.name == "README.md")
    for block in blocks(document):
        reader.follow(block)


@pytest.mark.requirement("I13.1.8")
def test_a_page_shows_a_scripted_model_that_runs() -> None:
    shown = blocks(ROOT / "docs" / "how-to" / "scripted-models.md")
    assert any("--model scripted/turns.yaml" in block.text for block in shown if block.language == "console")
    assert any(block.title == "turns.yaml" for block in shown)


def test_a_block_in_a_language_that_nothing_executes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="executed by nothing"):
        Reader(tmp_path).follow(Block("ruby", "", "puts 1", 1))


@pytest.mark.parametrize("command", ["echo one", "toolspan --version", "toolspan --version; echo $?"])
def test_output_that_differs_from_what_is_shown_is_refused(command: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="shown"):
        Reader(tmp_path).follow(Block("console", "", f"$ {command}\ntwo\n", 1))


@pytest.mark.parametrize(
    ("command", "code"), [("exit 3", 3), ("toolspan serv", 2), ("toolspan serve --no", 2)]
)
def test_a_command_that_fails_is_refused(command: str, code: int, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=f"exit {code}"):
        Reader(tmp_path).follow(Block("console", "", f"$ {command}\n", 1))


@pytest.mark.parametrize("shell", [True, False])
def test_a_command_has_the_same_output_and_code_in_a_shell_and_without(shell: bool, tmp_path: Path) -> None:
    shown = "Usage: toolspan …\n…\nError: no such command 'serv': did you mean 'serve'?\n2"
    Reader(tmp_path, shell=shell).follow(Block("console", "", f"$ toolspan serv; echo $?\n{shown}\n", 1))
