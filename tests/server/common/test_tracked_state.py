"""A state folder that was made here is not ours once a version control may write into it."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from toolspan_server.common.state import tracking
from toolspan_server.common.state.folder import private_folder, state_folder, take_over, way_out, why_not_ours
from toolspan_server.common.state.private_files import (
    list_private,
    private_database,
    read_private,
    remove_private,
    write_private,
)

pytestmark = [
    pytest.mark.requirement("I24.1.3"),
    pytest.mark.skipif(sys.platform == "win32", reason="folders are told apart by descriptors"),
]
PLANTED = ".toolspan/conversations/x.json"


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *settings, *words], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def committed(folder: Path, name: str, *, message: str = "more") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("planted")
    git(folder, "add", "-f", name)
    git(folder, "commit", "-qm", message)


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))
    return tmp_path / "user" / "toolspan"


@pytest.fixture
def upstream(tmp_path: Path, user: Path) -> Path:
    """A repository with many files, of names before and behind the state folder's."""
    folder = tmp_path / "upstream"
    folder.mkdir()
    git(folder, "init", "-qb", "main")
    for name in ("a", ".tools/here", ".toolspan-notes", "sub/.toolspan.md", "z/.toolspan/theirs"):
        committed(folder, name)
    return folder


@pytest.fixture
def clone(upstream: Path, tmp_path: Path) -> Path:
    git(tmp_path, "clone", "-q", str(upstream), "clone")
    return tmp_path / "clone"


def chosen(project: Path, name: str = ".toolspan") -> Path:
    return state_folder(project / name, project, absolute=False)


def made(project: Path, name: str = ".toolspan") -> Path:
    folder = private_folder(chosen(project, name))
    write_private(folder / "kept", b"kept")
    return folder


def test_what_a_pull_plants_in_a_folder_that_was_made_here_is_left_aside(
    upstream: Path, clone: Path, user: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = made(clone)
    assert chosen(clone) == folder, "other files of such names are nobody's state"
    committed(upstream, PLANTED)
    git(clone, "pull", "-q")
    assert (clone / PLANTED).read_text() == "planted"
    with caplog.at_level(logging.WARNING):
        instead = chosen(clone)
    assert instead.parent == user / "projects"
    assert PLANTED in caplog.text and f"git rm -r --cached {folder}" in caplog.text
    assert (folder / "kept").read_bytes() == b"kept", "nothing is lost"
    git(clone, "rm", "-qr", PLANTED)
    assert chosen(clone) == folder


def test_a_process_that_runs_beside_a_pull_opens_nothing_in_the_folder_any_more(
    upstream: Path, clone: Path
) -> None:
    folder = made(clone)
    private_database(folder / "keys.sqlite3")
    committed(upstream, PLANTED)
    git(clone, "pull", "-q")
    for use in (
        lambda: read_private(folder / "kept"),
        lambda: read_private(clone / PLANTED),
        lambda: list_private(folder / "conversations"),
        lambda: private_database(folder / "keys.sqlite3"),
        lambda: write_private(folder / "more", b""),
        lambda: remove_private(folder / "kept"),
        lambda: private_folder(folder / "storage"),
    ):
        with pytest.raises(OSError, match="git tracks files in it"):
            use()
    git(clone, "reset", "-q", "--hard", "HEAD~1")
    assert read_private(folder / "kept") == b"kept"


def test_a_folder_of_another_name_within_the_project_is_held_to_the_same(upstream: Path, clone: Path) -> None:
    folder = made(clone, "state")
    committed(upstream, "state/x")
    git(clone, "pull", "-q")
    assert chosen(clone, "state") != folder
    with pytest.raises(OSError, match="git tracks files in it"):
        read_private(folder / "kept")


@pytest.mark.long
@pytest.mark.parametrize(
    "settings",
    [
        ("index.version=3",),
        ("index.version=4",),
        ("core.splitIndex=true",),
        ("core.untrackedCache=true", "index.version=4"),
        ("index.skipHash=true",),
    ],
)
@pytest.mark.parametrize("below", ["", "sub/deeper"])
def test_the_index_is_read_in_all_its_forms(
    settings: tuple[str, ...], below: str, upstream: Path, clone: Path
) -> None:
    for each in settings:
        git(clone, "config", *each.split("="))
    project = clone / below
    project.mkdir(parents=True, exist_ok=True)
    committed(clone, "own", message="written in that form")
    folder = made(project)
    assert chosen(project) == folder
    committed(upstream, f"{below}/{PLANTED}".strip("/"))
    git(clone, "pull", "-q", "--no-rebase", "--no-edit")
    (clone / "new").write_text("")
    git(clone, "add", "-N", "new")  # an entry with further flags
    assert chosen(project) != folder


def test_of_a_repository_with_long_hashes_too(tmp_path: Path, user: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "long")
    for number in range(20):
        committed(tmp_path / "long", f"{number}")
    folder = made(tmp_path / "long")
    assert chosen(tmp_path / "long") == folder
    committed(tmp_path / "long", PLANTED)
    assert chosen(tmp_path / "long") != folder


def test_a_sparse_index_that_leaves_the_folder_out_may_bring_it(clone: Path) -> None:
    committed(clone, PLANTED)
    git(clone, "sparse-checkout", "set", "--cone", "--sparse-index", "sub")
    assert not (clone / ".toolspan").exists()
    assert chosen(clone) != clone / ".toolspan"


def test_a_work_tree_has_an_index_of_its_own(clone: Path, tmp_path: Path) -> None:
    git(clone, "branch", "planted")
    git(clone, "worktree", "add", "-q", str(tmp_path / "tree"), "planted")
    committed(tmp_path / "tree", PLANTED)
    assert chosen(clone) == clone / ".toolspan"
    assert chosen(tmp_path / "tree") != tmp_path / "tree" / ".toolspan"


def test_a_submodule_in_the_place_of_the_folder_or_beneath_it_is_tracked(
    upstream: Path, clone: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", str(upstream), "other")
    git(clone, "submodule", "--quiet", "add", str(tmp_path / "other"), ".toolspan")
    assert chosen(clone) != clone / ".toolspan"


def test_a_folder_in_a_submodule_is_looked_up_in_the_index_of_the_submodule(
    upstream: Path, clone: Path
) -> None:
    git(clone, "submodule", "--quiet", "add", str(upstream), "mod")
    assert chosen(clone / "mod") == clone / "mod" / ".toolspan"
    committed(clone / "mod", PLANTED)
    assert chosen(clone / "mod") != clone / "mod" / ".toolspan"


def test_a_link_that_git_tracks_in_its_place_is_not_followed(clone: Path) -> None:
    (clone / ".toolspan").symlink_to("z")
    git(clone, "add", ".toolspan")
    assert "git tracks" in why_not_ours(clone / ".toolspan")


def test_an_index_that_cannot_be_read_says_nothing_for_the_folder(clone: Path) -> None:
    folder = made(clone)
    (clone / ".git/index").write_bytes(b"DIRC" + bytes(60))
    assert "cannot be read" in why_not_ours(folder)
    (clone / ".git/index").unlink()
    assert not why_not_ours(folder)


def test_where_the_file_system_ignores_case_so_does_the_comparison(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(clone)
    committed(clone, ".ToolSpan/x")
    assert not why_not_ours(folder)
    shutil.copytree(clone / ".git", clone / ".GIT")  # as it is there on such a file system
    monkeypatch.setattr(tracking, "_judged", {})
    assert ".ToolSpan/x" in why_not_ours(folder)


@pytest.mark.parametrize("name", [".hg", ".svn", ".jj", "CVS", "_darcs"])
def test_no_state_is_kept_in_a_working_copy_whose_files_are_not_known(
    name: str, tmp_path: Path, user: Path
) -> None:
    project = tmp_path / "copy" / "sub"
    project.mkdir(parents=True)
    folder = made(project)
    (tmp_path / "copy" / name).mkdir()
    assert chosen(project).parent == user / "projects"
    assert "may be moved" in way_out(folder, why_not_ours(folder))
    chosen(project).parent.mkdir(parents=True)
    folder.rename(chosen(project))
    assert read_private(chosen(project) / "kept") == b"kept"


def test_what_is_kept_there_is_not_committed_by_mistake(clone: Path) -> None:
    made(clone)
    git(clone, "add", "-A")
    assert not git(clone, "status", "--porcelain")
    assert chosen(clone) == clone / ".toolspan"


def test_a_person_cannot_take_over_what_git_goes_on_writing_to(clone: Path) -> None:
    committed(clone, PLANTED)
    with pytest.raises(OSError, match="git tracks files in it"):
        take_over(clone / ".toolspan")
