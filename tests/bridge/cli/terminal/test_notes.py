"""Notes and errors at a terminal: broken between words, with commands in one piece."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.terminal import Terminal
from toolspan_server.common.visible import broken_between_words

pytestmark = pytest.mark.requirement("I13.2.41")


@pytest.mark.long
def test_an_error_at_a_terminal_is_broken_between_words(tmp_path: Path) -> None:
    with Terminal("tools", "list", cwd=tmp_path, size=(24, 40)) as terminal:
        assert terminal.ended() == 2
    lines = terminal.shown.replace("\r\n", "\n").partition("more about it")[0].splitlines()
    assert len(lines) > 3 and all(line.startswith("    ") for line in lines[1:])
    assert all(len(line) < 40 for line in lines if str(tmp_path) not in line)
    words = "(looked for toolspan.yaml, toolspan.yml, toolspan.json): name one with --config FILE"
    assert words in " ".join(" ".join(lines).split())


@pytest.mark.long
def test_a_server_that_a_person_starts_breaks_its_lines_between_words_too(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text("name: shop\n")
    with Terminal("serve", "-c", "toolspan.yaml", cwd=tmp_path, size=(24, 50)) as terminal:
        terminal.until("it ends with Ctrl+C")
        lines = terminal.shown.replace("\r\n", "\n").splitlines()
        terminal.type("\x03")
        assert terminal.ended() == 130
    assert all(len(line) < 50 for line in lines) and "`toolspan install CLIENT`" in " ".join(lines)


def test_a_command_that_is_there_to_be_copied_stays_in_one_line() -> None:
    text = "toolspan: go on with it by `toolspan chat --conversation 0123456789ab --config a.yaml`"
    assert broken_between_words(text, 40).splitlines() == [
        "toolspan: go on with it by",
        "    `toolspan chat --conversation 0123456789ab --config a.yaml`",
    ]


def test_lines_that_fit_and_the_indents_of_others_stay_as_they_are() -> None:
    text = "one  two\n    four\n\nfive"
    assert broken_between_words(text, 40) == text
    assert broken_between_words("a" * 50, 40) == "a" * 50
