"""Nothing outside of a workspace is opened: not by its path, not by links, not by exchanging folders."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.swapping import SWAPS, swapping
from tests.support.workspaces import write_files
from toolspan_server import ToolFailure
from toolspan_server.engines.workspace import Root, Workspace
from toolspan_server.engines.workspace.opening import beneath

pytestmark = pytest.mark.requirement("I12.3.1")

WAYS = ("openat2", "walk")


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way to open beneath a folder; the first where the kernel has it."""
    if request.param == "openat2" and not beneath.has_openat2():
        pytest.skip("openat2 is of Linux 5.6 and later")
    if request.param == "walk":
        monkeypatch.setattr(beneath, "has_openat2", lambda: False)
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace beside a folder with a secret, and a sibling whose name begins alike."""
    write_files(
        tmp_path, {"outside/secret.txt": "secret", "ws-evil/x": "secret", "ws/inner/secret.txt": "mine"}
    )
    return write_files(tmp_path / "ws", {"a.txt": "a", "deep/er/b.txt": "b"})


@pytest.fixture
def workspace(folder: Path) -> Iterator[Workspace]:
    with closing(made_at(folder)) as made:
        yield made


def made_at(folder: Path, **options: Any) -> Workspace:
    return Workspace(folder, Path("/nonexistent/checkpoints"), **options)


def content(workspace: Workspace, path: str) -> bytes:
    with workspace.open_file(workspace.place(path)) as file:
        return file.read(0, 1_000)


def refusal(workspace: Workspace, path: str) -> str:
    with pytest.raises(ToolFailure) as raised:
        content(workspace, path)
    return f"{raised.value.error_code}: {raised.value.error}"


@pytest.mark.parametrize("path", ["a.txt", "./a.txt", "deep//er/b.txt", "deep/./er/b.txt"])
def test_a_path_inside_is_opened(workspace: Workspace, way: str, path: str) -> None:
    assert content(workspace, path) == path.rpartition("/")[2][:1].encode()


def test_an_absolute_path_inside_is_opened_also_by_another_name_of_the_workspace(
    tmp_path: Path, folder: Path
) -> None:
    (tmp_path / "alias").symlink_to(folder)
    with closing(made_at(tmp_path / "alias")) as workspace:
        assert content(workspace, str(folder / "a.txt")) == b"a"
        assert content(workspace, str(tmp_path / "alias" / "a.txt")) == b"a"


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "deep/../../outside/secret.txt",
        "deep/../../ws/a.txt",
        "..",
        "{parent}/outside/secret.txt",
        "{parent}/ws-evil/x",
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
        '"..\\x2foutside/secret.txt"',
    ],
)
def test_a_path_that_leads_out_is_refused_whether_or_not_there_is_something(
    workspace: Workspace, way: str, path: str
) -> None:
    there = path.replace("{parent}", str(workspace.path.parent))
    missing = there.replace("secret.txt", "nothing.txt").replace("passwd", "nothing")
    told = refusal(workspace, there)
    assert told.startswith("outside_workspace: ")
    assert refusal(workspace, missing).partition(" is ")[2] == told.partition(" is ")[2]


@pytest.mark.parametrize("path", ["~/x", "~root/.bashrc", "a\0.txt", "", "x" * 5_000, "\ud800"])
def test_a_text_that_is_no_path_is_refused(workspace: Workspace, path: str) -> None:
    assert refusal(workspace, path).startswith("invalid_path: ")


def test_percent_signs_are_characters_of_names(workspace: Workspace) -> None:
    assert refusal(workspace, "%2e%2e/outside/secret.txt").startswith("file_not_found: ")


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../outside/secret.txt", "../outside/nothing", "{ws}/a.txt"]
)
def test_a_link_that_leads_out_is_refused_alike_whatever_it_leads_to(
    workspace: Workspace, way: str, target: str
) -> None:
    (workspace.path / "link").symlink_to(target.replace("{ws}", str(workspace.path)))
    assert refusal(workspace, "link") == "outside_workspace: link is outside of the workspace"


def test_a_link_that_stays_inside_is_followed(workspace: Workspace, way: str) -> None:
    (workspace.path / "deep" / "up").symlink_to("../inner")
    (workspace.path / "short").symlink_to("deep/up")
    assert content(workspace, "short/secret.txt") == b"mine"


def test_links_in_a_circle_end(workspace: Workspace, way: str) -> None:
    (workspace.path / "one").symlink_to("two")
    (workspace.path / "two").symlink_to("one")
    assert refusal(workspace, "one/x").startswith("outside_workspace: ")


def test_a_link_of_the_kernel_is_refused(tmp_path: Path, way: str) -> None:
    with closing(made_at(Path("/"))) as workspace, (tmp_path / "x").open("w") as opened:
        assert not refusal(workspace, f"proc/self/fd/{opened.fileno()}").startswith("file_not_found")


def fifo(path: Path) -> None:
    os.mkfifo(path)


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made, closing(made):
        os.chdir(path.parent)
        made.bind(path.name)


@pytest.mark.parametrize("make", [fifo, bound_socket, Path.mkdir], ids=["fifo", "socket", "folder"])
def test_what_is_no_regular_file_is_refused_at_once(
    workspace: Workspace, way: str, make: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.path)
    make(workspace.path / "odd")
    assert refusal(workspace, "odd").startswith("not_a_file: odd is a ")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the file systems of Linux's kernel")
@pytest.mark.parametrize(
    "path", ["dev/zero", "proc/self/environ", "proc/version", "sys/kernel/uevent_seqnum"]
)
def test_devices_and_files_of_the_kernel_are_refused_even_inside(way: str, path: str) -> None:
    with closing(made_at(Path("/"))) as workspace:
        assert refusal(workspace, path).startswith("not_a_file: ")


def test_a_further_root_is_used_by_its_absolute_path_alone(tmp_path: Path, folder: Path) -> None:
    with closing(made_at(folder, roots=[Root(tmp_path / "outside")])) as workspace:
        assert content(workspace, str(tmp_path / "outside" / "secret.txt")) == b"secret"
        assert refusal(workspace, "../outside/secret.txt").startswith("outside_workspace")
        assert refusal(workspace, str(tmp_path / "ws-evil" / "x")).startswith("outside_workspace")


@pytest.mark.long
def test_a_folder_that_is_exchanged_for_a_link_again_and_again_lets_nothing_out(
    workspace: Workspace, way: str
) -> None:
    found: set[bytes] = set()
    with swapping(workspace.path, SWAPS) as swapper:
        while swapper.poll() is None:
            found.add(_tried(workspace))
    assert swapper.returncode == 0
    assert b"secret" not in found
    assert {b"mine", b"outside_workspace"} <= found


def _tried(workspace: Workspace) -> bytes:
    try:
        return content(workspace, "inner/secret.txt")
    except ToolFailure as failure:
        return failure.error_code.encode()


def test_a_workspace_whose_folder_is_made_anew_is_opened_anew(workspace: Workspace) -> None:
    assert content(workspace, "a.txt") == b"a"
    workspace.path.rename(workspace.path.with_name("old"))
    write_files(workspace.path, {"a.txt": "new"})
    (workspace.path.with_name("old") / "a.txt").unlink()
    subprocess.run(["rm", "-r", str(workspace.path.with_name("old"))], check=True)
    assert content(workspace, "a.txt") == b"new"
