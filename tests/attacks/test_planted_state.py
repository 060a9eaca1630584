"""What lies in a state folder is followed nowhere, even where the folder itself is ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import toolspan
from toolspan_bridge.web.storage.keyed_requests import KeyedRequests

pytestmark = [
    pytest.mark.long,
    pytest.mark.requirement("I24.1.4"),
    pytest.mark.skipif(sys.platform == "win32", reason="links need rights there"),
]

BOUND_S = 480
CONFIG = """\
version: 1
name: p
tools: {registry: [{name: a, description: a, implementation: {type: mock, mock_response: 1}}]}
conversations: {keep_bytes: 65536}
"""


def used(folder: Path, *words: str) -> str:
    """What ``tests.support.state_users`` prints."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.state_users", str(folder / "project"), *words],
        env={**os.environ, "XDG_STATE_HOME": str(folder / "user")},
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    return done.stdout


@pytest.mark.parametrize(
    "kind", ["link to a file", "link to a folder", "link to nothing", "hard link", "pipe"]
)
def test_no_name_in_a_state_folder_leads_elsewhere(kind: str, tmp_path: Path) -> None:
    *found, last = used(tmp_path, "plant", kind, str(tmp_path / "canaries")).splitlines()
    assert found == []
    assert int(last.removeprefix("planted ").removesuffix(" names")) > 20


def test_state_is_reached_by_the_descriptor_of_its_folder_alone(tmp_path: Path) -> None:
    assert used(tmp_path, "watch").strip() == "nothing was reached by its name"


def ask(folder: Path, text: str) -> str:
    ran = toolspan("ask", text, "--model", "offline/keyword", cwd=folder, XDG_STATE_HOME=str(folder / "user"))
    return ran.out + ran.err


def test_a_pruned_conversation_takes_no_folder_with_it_that_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    ask(tmp_path, "first a")
    (log,) = (tmp_path / ".toolspan" / "conversations").glob("*.jsonl")
    with log.open("a") as file:
        file.write('{"note":{"kind":"x","text":"' + "y" * 70_000 + '"}}\n')
    keys = tmp_path / "ssh"
    keys.mkdir()
    (keys / "id_rsa").write_text("KEY")
    links = [log.with_name(f"{log.name}.{name}") for name in ("subagents", "files")]
    for link in links:
        link.symlink_to(keys)
    os.utime(log, (1, 1))
    assert "1 old conversation was removed" in ask(tmp_path, "hello a")
    assert [each.name for each in keys.iterdir()] == ["id_rsa"]
    assert not any(link.is_symlink() for link in links)


@pytest.mark.requirement("I24.1.3")
def test_a_cloned_state_folder_is_neither_read_nor_written(tmp_path: Path) -> None:
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    for folder in (theirs, mine):
        folder.mkdir()
        (folder / "toolspan.yaml").write_text(CONFIG)
    ask(theirs, "planted words about a")
    (theirs / ".toolspan").rename(mine / ".toolspan")
    before = sorted((mine / ".toolspan").rglob("*"))
    home = {"XDG_STATE_HOME": str(mine / "user")}
    for words in (("conversations", "list"), ("report",), ("conversations", "search", "planted")):
        ran = toolspan(*words, cwd=mine, **home)
        assert "planted words" not in ran.out + ran.err
    ask(mine, "my own a")
    assert sorted((mine / ".toolspan").rglob("*")) == before
    assert "my own a" in toolspan("conversations", "list", cwd=mine, **home).out
    ran = toolspan("trust", "state", cwd=mine, **home)
    assert "is used from now on, with the 1 file in it" in ran.out
    assert "planted words" in toolspan("conversations", "list", cwd=mine, **home).out


@pytest.mark.requirement("I24.1.3")
def test_what_a_pull_plants_in_a_state_folder_is_neither_read_nor_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    theirs, mine, home = tmp_path / "theirs", tmp_path / "mine", {"XDG_STATE_HOME": str(tmp_path / "user")}
    theirs.mkdir()
    (theirs / "toolspan.yaml").write_text(CONFIG)
    git(theirs, "init", "-qb", "main")
    git(theirs, "add", "toolspan.yaml")
    git(theirs, "commit", "-qm", "theirs")
    git(tmp_path, "clone", "-q", str(theirs), str(mine))
    toolspan("ask", "my own a", "--model", "offline/keyword", cwd=mine, **home)
    assert "my own a" in toolspan("conversations", "list", cwd=mine, **home).out
    assert not git(mine, "status", "--porcelain"), "nobody commits theirs by mistake"
    ask(theirs, "planted words about a")
    git(theirs, "add", "-f", ".toolspan/conversations")
    git(theirs, "commit", "-qm", "plant")
    git(mine, "pull", "-q")
    before = sorted((mine / ".toolspan").rglob("*"))
    for words in (("conversations", "list"), ("conversations", "search", "planted")):
        ran = toolspan(*words, cwd=mine, **home)
        assert "planted words" not in ran.out + ran.err
    assert "git tracks files in it" in caplog.text
    assert "git tracks files in it" in toolspan("trust", "state", cwd=mine, **home).err
    toolspan("ask", "another a", "--model", "offline/keyword", cwd=mine, **home)
    assert sorted((mine / ".toolspan").rglob("*")) == before
    git(mine, "rm", "-qr", ".toolspan")
    listed = toolspan("conversations", "list", cwd=mine, **home).out
    assert "my own a" in listed and "planted words" not in listed


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", *settings, *words], cwd=folder, check=True, capture_output=True, text=True, timeout=BOUND_S
    )
    return done.stdout


def test_a_state_folder_with_links_cannot_be_taken_over(tmp_path: Path) -> None:
    (tmp_path / ".toolspan").mkdir()
    (tmp_path / ".toolspan" / "definitions").symlink_to(tmp_path)
    ran = toolspan("trust", "state", cwd=tmp_path, XDG_STATE_HOME=str(tmp_path / "user"))
    assert ran.code == 2
    assert "holds links, pipes or hard links: remove them first" in ran.err


def test_the_name_of_an_owner_in_a_database_is_no_path(tmp_path: Path) -> None:
    import sqlite3

    victim = tmp_path / "x.lock"
    victim.write_text("kept")
    folder = tmp_path / "state"
    first = KeyedRequests(folder, kept_s=60, most_bytes=1_000)
    first.begin("me", "key", b"print", 10)
    first.close()
    with sqlite3.connect(folder / "requests.sqlite3") as database:
        database.execute("UPDATE requests SET owner = '../../x'")
    again = KeyedRequests(folder, kept_s=60, most_bytes=1_000)
    try:
        known = again.begin("me", "key", b"print", 10)
        assert known is not None
        assert not known.goes_on
    finally:
        again.close()
    assert victim.read_text() == "kept"
