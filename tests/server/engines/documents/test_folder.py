"""The folder's files: which are listed, and how they are read without harm."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from tests.support.document_collections import write
from toolspan_server.engines.documents import _folder
from toolspan_server.engines.documents._document import UnreadableFile
from toolspan_server.engines.documents._folder import DocumentFolder, shown
from toolspan_server.engines.documents._globs import Selection

pytestmark = pytest.mark.requirement("I2.4.3")

LIMIT = 1024


class Listing:
    """A document folder's entries, and the reasons why others were left out."""

    def __init__(self, root: Path, *include: str) -> None:
        self.folder = DocumentFolder("docs", root, Selection(include or ["**/*.md"]))
        self.skipped: dict[str, str] = {}
        self.entries = list(self.folder.entries(self.skipped.__setitem__, Event()))
        self.paths = [entry.path for entry in self.entries]


def test_files_are_listed_in_order_with_relative_paths(tmp_path: Path) -> None:
    write(tmp_path, {"b.md": "", "a/c.md": "", "a/x.py": "", ".git/d.md": "", "a/node_modules/e.md": ""})
    assert Listing(tmp_path).paths == ["b.md", "a/c.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX special files")
@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "link out", "dangling link", "loop"])
def test_what_is_no_file_of_the_folder_is_left_out_at_once(tmp_path: Path, kind: str) -> None:
    root = write(tmp_path / "docs", {"good.md": "text"})
    secret = write(tmp_path, {"secret.md": "secret"}) / "secret.md"
    bad = root / "bad.md"
    make: dict[str, Callable[[], object]] = {
        "fifo": lambda: os.mkfifo(bad),
        "device": lambda: bad.symlink_to("/dev/zero"),
        "folder": bad.mkdir,
        "link out": lambda: bad.symlink_to(secret),
        "dangling link": lambda: bad.symlink_to("nowhere.md"),
        "loop": lambda: bad.symlink_to("bad.md"),
    }
    make[kind]()
    listing = Listing(root)
    assert listing.paths == ["good.md"]
    assert kind == "folder" or list(listing.skipped) == ["bad.md"]
    with pytest.raises(UnreadableFile):
        listing.folder.read("bad.md", LIMIT)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_a_link_to_a_process_environment_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "env.md").symlink_to("/proc/self/environ")
    assert Listing(tmp_path).skipped == {"env.md": "a link that leaves the collection's folder"}


def test_a_linked_folder_is_not_entered(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"a.md": "text"})
    root = write(tmp_path / "docs", {"b.md": "text"})
    (root / "linked").symlink_to(outside)
    (root / "round").symlink_to(root)
    assert Listing(root).paths == ["b.md"]


def test_a_link_to_a_file_inside_is_read(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.md": "text"})
    (root / "b.md").symlink_to("a.md")
    listing = Listing(root)
    assert listing.paths == ["a.md", "b.md"]
    assert listing.folder.read("b.md", LIMIT) == b"text"


def test_a_file_over_the_limit_is_refused_without_reading_it(tmp_path: Path) -> None:
    with (tmp_path / "sparse.md").open("wb") as file:
        file.truncate(20 * 1024**3)
    with pytest.raises(UnreadableFile, match="larger than 1 KiB"):
        Listing(tmp_path).folder.read("sparse.md", LIMIT)


def test_a_path_out_of_the_folder_cannot_be_read(tmp_path: Path) -> None:
    root = write(tmp_path / "docs", {"a.md": "text"})
    write(tmp_path, {"secret.md": "secret"})
    with pytest.raises(UnreadableFile, match="leaves"):
        Listing(root).folder.read("../secret.md", LIMIT)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems allow only UTF-8 names")
def test_names_of_any_bytes_are_listed_shown_apart_and_read(tmp_path: Path) -> None:
    names = [b"new\nline.md", "r\u202etl.md".encode(), b"bad\xff.md", b"bad\\xff.md"]
    for name in names:
        (tmp_path / os.fsdecode(name)).write_text("text")
    listing = Listing(tmp_path)
    assert {os.fsencode(path) for path in listing.paths} == set(names)
    assert all(listing.folder.read(path, LIMIT) == b"text" for path in listing.paths)
    texts = [shown(path) for path in listing.paths]
    assert len(set(texts)) == 4
    assert all(text.encode() for text in texts)


def test_there_is_a_largest_number_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, {f"{number}.md": "" for number in range(5)})
    monkeypatch.setattr(_folder, "MOST_FILES", 3)
    assert Listing(tmp_path).paths == ["0.md", "1.md", "2.md"]
    assert "only the first 3 files" in caplog.text


def test_there_is_a_largest_number_of_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, {f"{number}/a.md": "" for number in range(5)})
    monkeypatch.setattr(_folder, "MOST_ENTRIES", 6)
    assert Listing(tmp_path).paths == ["0/a.md"]
    assert "only 6 entries" in caplog.text


def test_a_fresh_file_has_no_stamp_and_a_settled_one_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.md": "text"})
    assert Listing(tmp_path).entries[0].stamp == ""
    monkeypatch.setattr(_folder, "_UNSETTLED_SECONDS", -1.0)
    first = Listing(tmp_path).entries[0].stamp
    assert first
    (tmp_path / "a.md").write_text("next")
    assert Listing(tmp_path).entries[0].stamp != first


def test_a_change_matters_only_where_documents_can_be(tmp_path: Path) -> None:
    root = write(tmp_path / "docs", {"a.md": "", "b.py": "", ".git/c.md": "", "sub/d.md": ""})
    folder = DocumentFolder("docs", root, Selection(["**/*.md"]))
    assert folder.relevant(str(root / "a.md")) == "a.md"
    assert folder.relevant(str(root / "b.py")) is None
    assert folder.relevant(str(root / ".git" / "c.md")) is None
    assert folder.relevant(str(root / "sub")) == "sub"
    assert folder.relevant(str(root / "gone")) == "gone"
    assert folder.relevant(str(tmp_path / "other.md")) is None


def test_a_folder_that_becomes_a_link_while_it_is_looked_at_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, text in (("root/d", "inside"), ("outside", "secret")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.md").write_text(text)
    checked = _folder._inside

    def swapped(root: Path, path: str) -> Path:
        real = checked(root, path)
        (root / "d").rename(root / "e")
        (root / "d").symlink_to(tmp_path / "outside")
        return real

    monkeypatch.setattr(_folder, "_inside", swapped)
    with pytest.raises(UnreadableFile, match="Not a directory"):
        DocumentFolder("docs", tmp_path / "root", Selection(["**/*"])).read("d/a.md", 1_000)


@pytest.mark.requirement("I9.3.24")
def test_what_is_hidden_or_holds_keys_is_left_out_and_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a.md", ".env", ".ssh/config", "server.pem", ".git/config", "b/.hidden.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    folder = DocumentFolder("docs", tmp_path, Selection(["**/*"]))
    for _ in range(2):
        assert [entry.path for entry in folder.entries(lambda *_: None, Event())] == ["a.md"]
    (told,) = [record.getMessage() for record in caplog.records]
    assert told.startswith("'docs': left out .env, .ssh/, b/.hidden.md, server.pem: hidden, or keys")
    named = DocumentFolder("docs", tmp_path, Selection(["**/.env", ".ssh/*", "*.pem"]))
    assert [entry.path for entry in named.entries(lambda *_: None, Event())] == [
        ".env",
        "server.pem",
        ".ssh/config",
    ]
