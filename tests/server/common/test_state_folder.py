"""A state folder is ours when it was made here, by this user: by a mark that no repository can bring."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from toolspan_server.common.state import private_files
from toolspan_server.common.state.folder import (
    IGNORE_FILE,
    MARK_FILE,
    contents,
    private_folder,
    state_folder,
    take_over,
    why_not_ours,
)
from toolspan_server.common.state.private_files import write_private
from toolspan_server.errors import ServeError

pytestmark = [
    pytest.mark.requirement("I24.1.3"),
    pytest.mark.skipif(sys.platform == "win32", reason="folders are told apart by descriptors"),
]


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))
    return tmp_path / "user" / "toolspan"


@pytest.fixture
def project(tmp_path: Path, user: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def chosen(project: Path, name: str = ".toolspan") -> Path:
    return state_folder(project / name, project, absolute=Path(name).is_absolute())


def made(project: Path) -> Path:
    folder = private_folder(chosen(project))
    write_private(folder / "kept", b"kept")
    return folder


def test_a_folder_that_is_not_there_is_made_with_a_mark_and_used_again(project: Path) -> None:
    assert chosen(project) == project / ".toolspan"
    assert not (project / ".toolspan").exists()
    made(project)
    assert chosen(project) == project / ".toolspan"


def test_it_stays_ours_when_the_project_is_renamed(project: Path) -> None:
    made(project)
    project.rename(moved := project.with_name("moved"))
    assert chosen(moved) == moved / ".toolspan"


def _copied(project: Path) -> Path:
    made(project)
    return Path(shutil.copytree(project, project.with_name("copy")))


def _cloned_in_its_place(project: Path) -> Path:
    copy = _copied(project)
    project.rename(project.with_name("before"))
    copy.rename(project)
    return project


def _of_an_earlier_version(project: Path) -> Path:
    (project / ".toolspan").mkdir()
    (project / ".toolspan" / "validation.sqlite3").write_bytes(b"")
    return project


def _with_a_made_up_mark(project: Path) -> Path:
    _of_an_earlier_version(project)
    (project / ".toolspan" / MARK_FILE).write_text("The state folder\n" + "0" * 64 + "\n")
    return project


def _of_another_user(project: Path) -> Path:
    made(project)
    (project.parent / "user" / "toolspan" / "state-mark.secret").write_bytes(os.urandom(32))
    return project


def _a_link(project: Path) -> Path:
    made(project)
    (project / ".toolspan").rename(project / "real")
    (project / ".toolspan").symlink_to("real")
    return project


def _a_file(project: Path) -> Path:
    (project / ".toolspan").write_text("a file")
    return project


def _with_a_pipe_as_mark(project: Path) -> Path:
    _of_an_earlier_version(project)
    os.mkfifo(project / ".toolspan" / MARK_FILE)
    return project


@pytest.mark.parametrize(
    "came",
    [
        _copied,
        _cloned_in_its_place,
        _of_an_earlier_version,
        _with_a_made_up_mark,
        _of_another_user,
        _a_link,
        _a_file,
        _with_a_pipe_as_mark,
    ],
)
def test_a_folder_that_came_with_the_project_is_not_used_and_that_is_said_once(
    came: Callable[[Path], Path], project: Path, user: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = came(project)
    with caplog.at_level(logging.WARNING):
        found = {chosen(place) for _ in range(3)}
    assert len(found) == 1
    instead = found.pop()
    assert instead.parent == user / "projects"
    assert [each.levelname for each in caplog.records] == ["WARNING"]
    assert str(instead) in caplog.text
    is_folder = came not in (_a_link, _a_file)
    assert (f"toolspan trust state {place / '.toolspan'}" in caplog.text) == is_folder
    assert ("move it away" in caplog.text) == (not is_folder)
    before = {path: path.lstat().st_mtime_ns for path in (place / ".toolspan").rglob("*")}
    with pytest.raises(OSError, match=r"mark|link|folder"):  # also by code that did not ask
        private_folder(place / ".toolspan" / "conversations")
    assert before == {path: path.lstat().st_mtime_ns for path in (place / ".toolspan").rglob("*")}
    private_folder(instead / "conversations")


def test_two_projects_share_no_state(project: Path) -> None:
    other = _of_an_earlier_version(Path(shutil.copytree(project, project.with_name("other"))))
    assert chosen(_of_an_earlier_version(project)) != chosen(other)


def test_an_empty_folder_is_marked_when_it_is_used(project: Path) -> None:
    (project / ".toolspan").mkdir()
    made(project)
    assert not why_not_ours(project / ".toolspan")


def test_a_folder_that_a_person_took_over_is_ours(project: Path) -> None:
    folder = _of_an_earlier_version(project) / ".toolspan"
    (folder / "link").symlink_to("/etc/passwd")
    os.link(folder / "validation.sqlite3", folder / "same")
    found = contents(folder)
    assert sorted(map(os.path.basename, found.others)) == ["link", "same", "validation.sqlite3"]
    take_over(folder)
    assert chosen(project) == folder


def test_another_name_within_the_project_needs_the_mark_as_well(project: Path, user: Path) -> None:
    (project / "state").mkdir()
    (project / "state" / "planted").write_text("")
    assert chosen(project, "state").is_relative_to(user)
    private_folder(chosen(project, "new") / "storage")
    assert chosen(project, "new") == project / "new"
    assert (project / "new" / MARK_FILE).exists()


@pytest.mark.parametrize("name", ["../shared", "{project}/volume"])
def test_a_folder_elsewhere_and_a_whole_path_are_the_word_of_whoever_named_them(
    name: str, project: Path
) -> None:
    name = name.format(project=project)
    (project / name).mkdir()
    (project / name / "kept").write_text("")
    assert chosen(project, name) == (project / name).resolve()


def test_a_user_without_a_home_is_told_what_to_set(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _of_an_earlier_version(project)

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(ServeError, match="set XDG_STATE_HOME, or state_dir"):
        chosen(project)


@pytest.mark.parametrize("is_there", [False, True])
def test_processes_that_make_the_folder_at_once_all_find_it_theirs(
    is_there: bool, project: Path, user: Path
) -> None:
    if is_there:
        (project / ".toolspan").mkdir()
    code = (
        "import sys, pathlib; from toolspan_server.common.state.folder import *; sys.stdin.read(1);"
        "p = pathlib.Path(sys.argv[1]); f = state_folder(p / '.toolspan', p, absolute=False);"
        "private_folder(f / 'storage' / sys.argv[2]); assert f == p / '.toolspan', f"
    )
    ran = [
        subprocess.Popen([sys.executable, "-c", code, str(project), str(number)], stdin=subprocess.PIPE)
        for number in range(6)
    ]
    for each in ran:
        assert each.stdin is not None
        each.stdin.write(b"x")
        each.stdin.close()
    assert [each.wait(60) for each in ran] == [0] * 6
    assert sorted(each.name for each in (project / ".toolspan").iterdir()) == [
        IGNORE_FILE,
        MARK_FILE,
        "storage",
    ]
    assert not [each for each in project.iterdir() if each.name != ".toolspan"]


def _old(path: Path) -> Path:
    os.utime(path, (1, 1))
    return path


@pytest.mark.requirement("I24.6.8")
def test_what_an_ended_process_left_half_written_is_removed_at_the_next_start(project: Path) -> None:
    folder = made(project) / "conversations"
    private_folder(folder)
    left = [project / ".toolspan" / private_files.temporary_name(), folder / private_files.temporary_name()]
    for path in left:
        path.write_text("half")
        _old(path)
    half_made = project / private_files.temporary_name()
    half_made.mkdir()
    (half_made / MARK_FILE).write_text("")
    _old(half_made)
    kept = [project / ".toolspan-notes.tmp", folder / ".toolspan-0123456789abcdef.tmp.txt"]
    for path in kept:
        path.write_text("mine")
        _old(path)
    linked = _old_link(folder / private_files.temporary_name(), kept[0])
    held = folder / private_files.temporary_name()
    held.write_text("being written")
    code = (
        "import fcntl, pathlib, sys; from toolspan_server.common.state.folder import private_folder;"
        "private_folder(pathlib.Path(sys.argv[1]))"
    )
    with held.open("r+") as writer:
        import fcntl

        fcntl.flock(writer, fcntl.LOCK_EX)
        _old(held)
        subprocess.run([sys.executable, "-c", code, str(folder)], check=True, timeout=60)
    assert not any(path.exists() for path in [*left, half_made])
    assert all(path.exists() for path in [*kept, held, linked])


def _old_link(path: Path, to: Path) -> Path:
    path.symlink_to(to)
    os.utime(path, (1, 1), follow_symlinks=False)
    return path
