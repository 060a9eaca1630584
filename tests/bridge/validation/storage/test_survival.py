"""What the store says is written stays written, whatever happens to its writers and its disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import toolspan_bridge
import toolspan_server
from tests.support import trial_writer
from tests.support.disks import tiny_disk
from tests.support.trials import a_trial
from toolspan_bridge.validation import Store

pytestmark = [
    pytest.mark.long,
    pytest.mark.requirement("I2.7.2"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals and file limits are POSIX"),
]

WRITER = [sys.executable, "-P", "-W", "error", str(trial_writer.__file__)]
PACKAGES = [str(Path(str(package.__file__)).parents[1]) for package in (toolspan_bridge, toolspan_server)]


def _start(*arguments: str | Path, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*before, *WRITER, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PACKAGES)},
    )


def _finish(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate("go\n", timeout=120)
    assert (process.returncode, err) == (0, "")
    return out.splitlines()


def _words(lines: Sequence[str], first: str) -> list[str]:
    return [line.partition(" ")[2] for line in lines if line.startswith(first + " ")]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user may enter but not write."""
    folder = Path(tempfile.mkdtemp())
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_writers_killed_at_any_moment_lose_nothing_that_they_acknowledged(tmp_path: Path) -> None:
    out = _finish(_start("killed", tmp_path, "60"))

    outcome = json.loads(out[0])
    assert outcome["acknowledged"] > 150
    assert (outcome["lost"], outcome["notices"], outcome["torn_exports"]) == ([], [], 0)


def test_two_processes_writing_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "validation.sqlite3"
    writers = [_start("write", path, prefix, "100") for prefix in "ab"]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"

    lines = [_finish(writer) for writer in writers]

    assert [len(_words(said, "written")) for said in lines] == [100, 100]
    with Store.open(path) as store:
        names = {trial.scenario for trial in store.trials()}
        assert store.notices == ()
    assert names == {f"{prefix}{number}" for prefix in "ab" for number in range(100)}


def test_a_write_that_the_disk_refuses_is_not_acknowledged_and_earlier_ones_stay(tmp_path: Path) -> None:
    lines = _finish(_start("write", tmp_path / "validation.sqlite3", "t", "100", "--file-limit", "200000"))

    written, (refusal,), (kept,) = _words(lines, "written"), _words(lines, "refused"), _words(lines, "kept")
    assert 5 < len(written) < 100
    assert json.loads(kept) == written
    assert "the disk does not take or give the data (is it full" in refusal
    assert refusal.endswith("this trial is not recorded, earlier ones are intact")


def test_on_a_full_disk_the_reason_is_given_and_nothing_is_lost(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if (prefix := tiny_disk(disk)) is None:
        pytest.skip("mounting a small disk needs user namespaces; the file-size limit above stands in for it")

    lines = _finish(_start("write", disk / "validation.sqlite3", "t", "100", before=prefix))

    written, (refusal,), (kept,) = _words(lines, "written"), _words(lines, "refused"), _words(lines, "kept")
    assert 5 < len(written) < 100
    assert json.loads(kept) == written
    assert "the disk is full (make room, then try again)" in refusal


@pytest.mark.parametrize(
    ("modes", "told"),
    [
        ({"": 0o555}, "cannot open the validation store {}: Permission denied"),
        ({"": 0o555, "validation.sqlite3": 0o444}, "cannot open the validation store {}: Permission denied"),
        (
            {"": 0o777, "validation.sqlite3": 0o444, "validation.sqlite3.lock": 0o666},
            "cannot write to the validation store {}: it is read-only (check its permissions and its "
            "folder's); this trial is not recorded, earlier ones are intact",
        ),
    ],
    ids=["folder", "file and folder", "file"],
)
def test_a_read_only_store_is_refused_with_the_reason_and_left_alone(
    open_folder: Path, modes: dict[str, int], told: str
) -> None:
    path = open_folder / "state" / "validation.sqlite3"
    with Store.open(path) as store:
        store.append(a_trial("earlier"))
    before = path.read_bytes()
    for name, mode in modes.items():
        (path.parent / name).chmod(mode)
    open_folder.chmod(0o755)

    lines = _finish(_start("write", path, "t", "1", "--nobody"))

    path.parent.chmod(0o755)
    assert _words(lines, "written") == []
    assert _words(lines, "refused") == [told.format(path)]
    assert path.read_bytes() == before
