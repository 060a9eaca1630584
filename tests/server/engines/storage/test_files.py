"""What tools store in files, whatever happens to the disk and the processes."""

from __future__ import annotations

import os
import random
import select
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import toolspan_server
from tests.support import storage_writer
from tests.support.disks import tiny_disk
from toolspan_server import FileStore, ToolFailure, ToolStorage
from toolspan_server.engines.storage import StorageLimits

WRITER = [sys.executable, "-P", "-W", "error", str(storage_writer.__file__)]
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals, modes and file limits are POSIX")


def of(folder: Path, tool: str = "notes", conversation: str = "c-1") -> ToolStorage:
    return ToolStorage("ann", conversation, tool, FileStore(folder))


def started(store: str | Path, prefix: str, count: int, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    root = Path(str(toolspan_server.__file__)).parents[1]
    process = subprocess.Popen(
        [*before, *WRITER, str(store), prefix, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def finished(process: subprocess.Popen[str]) -> list[str]:
    out, _ = process.communicate("go\n", timeout=120)
    assert process.returncode == 0
    return out.splitlines()


def words(lines: Sequence[str], first: str) -> list[str]:
    return [line.partition(" ")[2] for line in lines if line.startswith(first + " ")]


@pytest.mark.requirement("I12.4.10")
def test_it_is_a_file_of_plain_json_where_its_names_say_made_when_it_is_needed(tmp_path: Path) -> None:
    folder = tmp_path / "storage"
    of(folder).get("a")
    of(folder).clear()
    assert list(tmp_path.iterdir()) == []
    of(folder).set("a", "é")
    assert (folder / "ann" / "c-1" / "notes.json").read_text("utf-8") == '{"a": "é"}'
    of(folder).clear()
    assert not (folder / "ann" / "c-1").exists()


@posix
@pytest.mark.requirement("I12.4.10")
def test_it_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        of(tmp_path / ".toolspan" / "storage").set("a", 1)
    finally:
        os.umask(before)
    made = list((tmp_path / ".toolspan").rglob("*"))
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in made} == {0}


@pytest.mark.requirement("I12.4.11")
@pytest.mark.parametrize(
    "name", ["../../out", "/etc/x", "a\x00b", "..", "C:\\x", "x" * 200, "🙂" * 100, "nul", "A"]
)
def test_no_name_leads_out_of_the_folder_or_is_too_long_or_differs_by_case(tmp_path: Path, name: str) -> None:
    ToolStorage(name, name, name, FileStore(tmp_path / "in")).set("a", 1)
    [found] = (tmp_path / "in").rglob("*.json")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    steps = found.relative_to(tmp_path / "in").parts
    assert len(steps) == 3
    for step in steps:
        assert set(step.removesuffix(".json")) <= set("abcdefghijklmnopqrstuvwxyz0123456789~_-")
        assert len(step) < 80 and "~" in step


@pytest.mark.requirement("I12.4.12")
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"7", b"\xff", b"[" * 100_000, b'{"a": 1}garbage'],
    ids=["empty", "cut", "list", "number", "binary", "deep", "more"],
)
def test_a_damaged_file_is_an_error_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    of(tmp_path).set("a", 1)
    path = tmp_path / "ann" / "c-1" / "notes.json"
    path.write_bytes(content)
    storage = of(tmp_path)
    for attempt in (
        lambda: storage.get("a"),
        storage.get_all,
        lambda: storage.set("a", 2),
        lambda: storage.delete("a"),
        storage.clear,
    ):
        with pytest.raises(ToolFailure, match="is damaged, and was left as it is") as raised:
            attempt()
        assert raised.value.error_code == "storage_damaged"
        assert str(path) in raised.value.detail and str(path) not in raised.value.error
    assert path.read_bytes() == content
    of(tmp_path, conversation="another").set("a", 1)


@posix
@pytest.mark.requirement("I12.4.12")
def test_what_is_no_file_is_an_error_at_once(tmp_path: Path) -> None:
    of(tmp_path).set("a", 1)
    path = tmp_path / "ann" / "c-1" / "notes.json"
    secret = tmp_path / "secret.json"
    secret.write_text('{"a": "not yours"}')
    for make in (lambda: path.mkdir(), lambda: path.symlink_to(secret), lambda: os.mkfifo(path)):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        make()
        with pytest.raises(ToolFailure) as raised:
            of(tmp_path).get("a")
        assert raised.value.error_code in ("storage_error", "storage_damaged")
        with pytest.raises(ToolFailure):
            of(tmp_path).set("a", 2)
    assert secret.read_text() == '{"a": "not yours"}'


@pytest.mark.requirement("I12.4.12")
def test_a_lower_quota_takes_nothing_away_and_lets_a_document_shrink(tmp_path: Path) -> None:
    of(tmp_path).set("a", list(range(10_000)))
    strict = ToolStorage("ann", "c-1", "notes", FileStore(tmp_path, StorageLimits(100, 4_096)))
    assert strict.get("a") == list(range(10_000))
    with pytest.raises(ToolFailure, match=r"storage\.document_bytes"):
        strict.set("b", 1)
    strict.set("a", "small")
    assert strict.get_all() == {"a": "small"}


@pytest.mark.long
@pytest.mark.requirement("I12.4.14")
@pytest.mark.parametrize("url", ["{}", "sqlite:///{}/tools.db"], ids=["files", "sqlite"])
def test_two_processes_on_one_document_lose_nothing(tmp_path: Path, url: str) -> None:
    store = url.format(tmp_path)
    writers = [started(store, prefix, 60) for prefix in "ab"]
    lines = [finished(writer) for writer in writers]
    assert [len(words(said, "written")) for said in lines] == [60, 60]
    expected = {f"{prefix}{number}" for prefix in "ab" for number in range(60)}
    assert set(storage_writer.names(store)) == expected


@posix
@pytest.mark.long
@pytest.mark.requirement("I12.4.14")
def test_a_writer_killed_at_any_moment_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    chance = random.Random(20261122)
    acknowledged: list[str] = []
    for number in range(20):
        writer = started(tmp_path, f"{number}-", 1_000)
        assert writer.stdin is not None and writer.stdout is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
        for _ in range(chance.randrange(6)):
            acknowledged += words([writer.stdout.readline().rstrip()], "written")
        select.select([], [], [], chance.uniform(0, 0.01))
        writer.kill()
        acknowledged += words(writer.stdout.read().splitlines(), "written")
        writer.communicate()
        there = storage_writer.names(tmp_path)
        assert [name for name in acknowledged if name not in there] == []
        assert len(there) == len(set(there)) <= len(acknowledged) + number + 1
    of(tmp_path).set("a", 1)
    leftover = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert len(leftover) <= 4, leftover


@posix
@pytest.mark.requirement("I12.4.12")
@pytest.mark.parametrize("hinder", ["limit", "disk"])
def test_on_a_full_disk_the_reason_is_given_and_nothing_is_lost(tmp_path: Path, hinder: str) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    before = ["sh", "-c", 'ulimit -f 100 && exec "$@"', "sh"] if hinder == "limit" else tiny_disk(folder)
    if before is None:
        pytest.skip("mounting a small disk needs user namespaces; the file-size limit stands in for it")
    lines = finished(started(folder, "n", 1_000, before))
    written, (refusal,), (kept,) = words(lines, "written"), words(lines, "refused"), words(lines, "kept")
    assert 5 < len(written) < 200
    assert kept.split() == written
    assert refusal.startswith(
        "The storage of the tool cannot be written; what was stored before is unchanged"
    )
    assert ("No space left" if hinder == "disk" else "File too large") in refusal
