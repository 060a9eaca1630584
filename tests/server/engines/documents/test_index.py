"""The index: filled by content, asked in plain words, shared by processes, rebuilt when damaged."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from tests.support.document_collections import write
from tests.support.waiting import BOUND_S
from toolspan_server.engines.documents import SearchResult, _folder
from toolspan_server.engines.documents._folder import DocumentFolder
from toolspan_server.engines.documents._globs import Selection
from toolspan_server.engines.documents._index import DamagedIndex, open_index, set_aside
from toolspan_server.engines.documents._index_updater import IndexUpdater
from toolspan_server.engines.documents._search import search
from toolspan_server.engines.documents._sync import Changes, Sync
from toolspan_server.engines.documents._terms import terms

pytestmark = pytest.mark.requirement("I2.4.3")

PAGES = {
    "guide.md": "# Guide\n\n## Install\n\nUse pip to install it.\n\n## Use\n\nRun the program with a file.\n",
    "cache.md": "# Cache\n\nThe cache keeps what the program has read.\n",
    "notes.txt": "Nothing but the notes of a meeting about the weather.",
}


class Reads(DocumentFolder):
    """A tree that knows which files were read."""

    def __init__(self, root: Path) -> None:
        super().__init__("docs", root, Selection(["**/*.md", "**/*.txt"]))
        self.read_paths: list[str] = []

    @override
    def read(self, path: str, limit: int) -> bytes:
        self.read_paths.append(path)
        return super().read(path, limit)


class Place:
    """A folder of documents with its index."""

    def __init__(self, home: Path) -> None:
        self.docs = write(home / "docs", PAGES)
        self.folder = home / "index"
        self.file = self.folder / "index.sqlite3"
        self.tree = Reads(self.docs)
        self.sync = Sync(self.tree, Event())

    def update(self, *suspects: str) -> Changes:
        self.tree.read_paths.clear()
        with open_index(self.folder, Event()) as index:
            return self.sync.update(index, frozenset(suspects))

    def ask(self, question: str, limit: int = 5) -> SearchResult:
        return search(self.folder, terms(question), limit, Event())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.update()
    return place


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled as soon as they are written, as if the test had waited."""
    monkeypatch.setattr(_folder, "_UNSETTLED_SECONDS", -1.0)


def test_a_word_is_found_with_its_source_heading_and_snippet(place: Place) -> None:
    (hit,) = place.ask("installing").hits
    assert (hit.source, hit.heading) == ("guide.md", "Guide > Install")
    assert hit.snippet == "Use pip to install it."
    assert hit.score > 0


def test_a_passage_with_more_of_the_words_comes_first(place: Place) -> None:
    pages = {f"{number}.md": "# Page\n\nThe weather.\n" for number in range(20)}
    both = "the weather and the cache"
    write(place.docs, {**pages, "often.md": "# Cache\n\ncache cache cache\n", "both.txt": both})
    place.update()
    assert place.ask("weather cache").hits[0].source == "both.txt"


def test_a_word_in_a_heading_counts_more_than_one_in_the_text(place: Place) -> None:
    filler = {f"filler{number}.md": f"# Page {number}\n\nOther words.\n" for number in range(20)}
    write(
        place.docs,
        {"a.md": "# Other\n\nA word on locking.\n", "b.md": "# Locking\n\nA word on it.\n", **filler},
    )
    place.update()
    assert [hit.source for hit in place.ask("locking").hits] == ["b.md", "a.md"]


@pytest.mark.usefixtures("settled")
def test_nothing_is_read_again_when_nothing_changed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert place.update() == Changes(indexed=3)
    assert len(place.tree.read_paths) == 3
    assert place.update() == Changes(unchanged=3)
    assert place.tree.read_paths == []


def test_a_fresh_file_is_read_again_and_not_indexed_again(place: Place) -> None:
    assert place.update() == Changes(unchanged=3)
    assert len(place.tree.read_paths) == 3


@pytest.mark.usefixtures("settled")
def test_only_the_changed_file_is_read_again(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.update()
    write(place.docs, {"cache.md": "# Cache\n\nIt forgets everything.\n"})
    assert place.update() == Changes(indexed=1, unchanged=2)
    assert place.tree.read_paths == ["cache.md"]
    assert place.ask("forgets").total == 1
    assert place.ask("keeps").total == 0


@pytest.mark.usefixtures("settled")
def test_a_touched_file_is_read_once_and_not_indexed_again(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.update()
    (place.docs / "cache.md").touch()
    assert place.update() == Changes(unchanged=3)
    assert place.tree.read_paths == ["cache.md"]
    place.update()
    assert place.tree.read_paths == []


@pytest.mark.usefixtures("settled")
def test_a_suspect_is_read_whatever_its_stamp_says(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.update()
    place.update("cache.md")
    assert place.tree.read_paths == ["cache.md"]


def test_a_removed_file_is_found_no_more(place: Place) -> None:
    (place.docs / "cache.md").unlink()
    assert place.update().dropped == 1
    assert place.ask("keeps").total == 0


def test_a_file_that_becomes_unreadable_is_found_no_more(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    write(place.docs, {"cache.md": b"\xff\xfe\x00"})
    changes = place.update()
    assert (changes.skipped, changes.dropped) == (1, 1)
    assert place.ask("keeps").total == 0
    place.update()
    assert caplog.text.count("left out 'cache.md'") == 1


def test_an_update_that_is_stopped_drops_nothing(place: Place) -> None:
    place.sync.stop.set()
    assert place.update() == Changes()
    assert place.ask("cache").total == 1


@pytest.mark.parametrize(
    "question",
    [
        '" OR NOT *',
        "cache* NEAR(x, 1)",
        "title:cache",
        "^cache",
        "cache AND NOT cache",
        "{a b}:c",
        "-cache",
        "'); DROP",
    ],
)
def test_query_syntax_is_only_words(place: Place, question: str) -> None:
    assert place.ask(question).total in {0, 1}
    assert place.ask("cache").total == 1


_shared: list[Place] = []


@pytest.fixture(scope="module", autouse=True)
def _shared_place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    place = Place(tmp_path_factory.mktemp("shared"))
    place.update()
    _shared.append(place)
    yield
    _shared.clear()


@given(st.text(max_size=200))
def test_any_question_has_an_answer(question: str) -> None:
    if terms(question):
        found = _shared[0].ask(question)
        assert len(found.hits) == min(found.total, 5)


def test_a_search_ends_when_nobody_waits_for_it(tmp_path: Path) -> None:
    place = Place(tmp_path)
    write(place.docs, {"many.md": "".join(f"# {number}\n\ncommon word\n\n" for number in range(5000))})
    place.update()
    stop = Event()
    stop.set()
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        search(place.folder, ["common", "word"], 5, stop)


def _not_sqlite(file: Path) -> None:
    file.write_bytes(b"no database at all " * 1000)


def _torn(file: Path) -> None:
    data = bytearray(file.read_bytes())
    for page in range(4096, len(data), 4096):
        data[page : page + 2048] = b"\xa5" * 2048
    file.write_bytes(data)


def _newer(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def _without_tables(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("DROP TABLE passages")
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [(_not_sqlite, "damaged"), (_torn, "damaged"), (_newer, "newer"), (_without_tables, "damaged")],
)
def test_an_index_that_cannot_be_used_is_named_and_set_aside(place: Place, spoil: object, fault: str) -> None:
    assert callable(spoil)
    spoil(place.file)
    spoilt = place.file.read_bytes()
    with pytest.raises(DamagedIndex) as caught:
        place.update()
    assert caught.value.fault == fault
    set_aside(place.folder, caught.value)
    (aside,) = place.folder.parent.glob(f"index.{fault}-*")
    assert (aside / "index.sqlite3").read_bytes() == spoilt
    assert place.update().indexed == 3


def test_an_index_that_another_process_has_renewed_stays(place: Place) -> None:
    stale = DamagedIndex("damaged", place.file.stat().st_ino + 1)
    set_aside(place.folder, stale)
    assert place.ask("cache").total == 1


def test_a_writer_waits_for_another_and_a_reader_does_not(place: Place) -> None:
    write(place.docs, {"cache.md": "# Cache\n\nIt forgets everything.\n"})
    other = sqlite3.connect(place.file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer = threading.Thread(target=place.update)
    writer.start()
    assert place.ask("keeps").total == 1
    assert writer.is_alive()
    other.execute("ROLLBACK")
    other.close()
    writer.join(BOUND_S)
    assert place.ask("forgets").total == 1


class SetAtTheThirdLook(Event):
    looks = 0

    @override
    def wait(self, timeout: float | None = None) -> bool:
        self.looks += 1
        if self.looks == 3:
            self.set()
        return super().wait(timeout)


def test_a_writer_that_waits_ends_when_the_server_stops(place: Place) -> None:
    other = sqlite3.connect(place.file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    stop = SetAtTheThirdLook()
    with pytest.raises(sqlite3.OperationalError, match="locked"), open_index(place.folder, stop):
        pytest.fail("the index was opened although it is locked")
    assert stop.looks == 3
    other.close()


DEEP = "".join("#" * level + " " + "h" * 190 + "\n\n" for level in range(1, 6))
GROWING = {
    "title.html": f"<title>{'word ' * 20_000}</title><p>{'text ' * 100_000}</p>",
    "title.md": f"# {'word ' * 20_000}\n\n{'text ' * 100_000}",
    "headings.md": DEEP + "###### a\n\nb\n\n" * 20_000,
    "sections.md": "# a\n\n" * 100_000,
    "line.txt": "x" * 500_000,
}


@pytest.mark.long
@pytest.mark.requirement("I9.3.20")
@pytest.mark.parametrize("name", GROWING)
def test_an_index_is_not_many_times_as_large_as_its_documents(tmp_path: Path, name: str) -> None:
    docs = write(tmp_path / "docs", {name: GROWING[name]})
    with open_index(tmp_path / "index", Event()) as index:
        done = Sync(DocumentFolder("docs", docs, Selection(["**/*"])), Event()).update(index)
    assert done.indexed == 1
    size = sum(file.stat().st_size for file in (tmp_path / "index").iterdir())
    assert size < 12 * len(GROWING[name])


@pytest.mark.requirement("I9.3.20")
def test_a_title_finds_every_passage_and_a_changed_one_no_longer(place: Place) -> None:
    text = "word " * 1_000
    write(place.docs, {"long.md": f"# Zebras\n\n{text}\n\n## More\n\n{text}"})
    place.update()
    assert place.ask("zebras").total > 5
    write(place.docs, {"long.md": f"# Horses\n\n{text}"})
    place.update("long.md")
    assert place.ask("zebras").total == 0
    assert place.ask("horses").total > 1


@pytest.mark.requirement("I9.3.20")
def test_an_index_of_an_earlier_layout_is_set_aside_and_built_again(place: Place) -> None:
    with closing(sqlite3.connect(place.file)) as connection, connection:
        connection.execute("PRAGMA user_version = 1")
    keeper = IndexUpdater(place.tree, place.folder, Event())
    assert keeper._update(frozenset()).indexed == len(PAGES)
    assert place.ask("cache").total
    (aside,) = place.folder.parent.glob("index.older-*")
    assert (aside / "index.sqlite3").is_file()
