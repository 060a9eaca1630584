"""A saved conversation at a real terminal: shown, copied, exported, left for another, and shared by two."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.cli import toolspan
from tests.support.terminal import Terminal

NAMED = ("--config", "toolspan.yaml")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text("name: shop\n")
    turns = "\n".join(f"  - text: answer {number}" for number in range(1, 6))
    (tmp_path / "script.yaml").write_text(f"turns:\n{turns}\n")
    return tmp_path


def chat(folder: Path, *words: str) -> Terminal:
    return Terminal("chat", *words, "-m", "scripted/script.yaml", *NAMED, cwd=folder)


def ask(terminal: Terminal, text: str, answer: str) -> None:
    terminal.until("you>")
    terminal.type(f"{text}\r")
    terminal.until(answer)


def listed(folder: Path) -> list[dict[str, str]]:
    ran = toolspan("conversations", "list", "--json", *NAMED, cwd=folder)
    found: list[dict[str, str]] = json.loads(ran.out)["conversations"]
    return found


@pytest.mark.long
@pytest.mark.requirement("I12.4.53")
def test_a_chat_is_shown_forked_exported_and_left_for_another(shop: Path) -> None:
    with chat(shop) as terminal:
        ask(terminal, "first", "answer 1")
        ask(terminal, "second", "answer 2")
        ask(terminal, "/history", "[2] you> second")
        terminal.until("answer 2")
        ask(terminal, "/fork 1", "stays as it is")
        ask(terminal, "other", "answer 3")
        ask(terminal, "/export markdown talk.md", "the conversation is in talk.md")
        ask(terminal, "/export pdf talk.pdf", "/export takes a format and a file")
        ask(terminal, "/resume", "first")
        original = next(each["id"] for each in listed(shop) if not each["forked_from"])
        ask(terminal, f"/resume {original[:8]}", "going on with")
        ask(terminal, "third", "answer 4")
        ask(terminal, "/exit", f"chat --conversation {original[:12]} --config toolspan.yaml`")
        assert terminal.ended() == 0
    exported = (shop / "talk.md").read_text()
    assert "> other" in exported and "> second" not in exported
    shown = toolspan("conversations", "show", original, *NAMED, cwd=shop).out
    assert shown.index("second") < shown.index("third") and "other" not in shown


@pytest.mark.long
@pytest.mark.requirement("I12.4.42")
def test_the_second_terminal_is_offered_a_copy(shop: Path) -> None:
    with chat(shop) as first:
        ask(first, "first", "answer 1")
        first.until("you>")
        with chat(shop, "--continue") as second:
            second.until(f"in use by process {first.process.pid}")
            second.until("Go on with a copy now? [y/N]: ")
            second.type("y\r")
            ask(second, "second", "answer 1")
            ask(second, "/exit", "go on with it by")
            assert second.ended() == 0
        with chat(shop, "--conversation", listed(shop)[-1]["id"]) as third:
            third.until("Go on with a copy now? [y/N]: ")
            third.type("n\r")
            assert third.ended() == 1
    assert sorted(bool(each["forked_from"]) for each in listed(shop)) == [False, True]
