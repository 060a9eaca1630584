"""What a command made is looked for also where its server was killed before it could."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.commands import ran, runner
from tests.support.waiting import BOUND_S, until
from tests.support.workspaces import write_files
from toolspan_server import ToolFailure, load_config, running
from toolspan_server.engines.sandbox import SandboxSettings, finish_killed
from toolspan_server.engines.sandbox._choice import choice

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.requirement("I24.6.2"),
    pytest.mark.skipif(
        sys.platform != "linux" or choice().confinement is None, reason="bubblewrap does not work here"
    ),
]

SERVER = """\
import os, signal, sys
from pathlib import Path
import anyio
from tests.support.commands import runner
from toolspan_server.engines.sandbox import SandboxSettings
from toolspan_server.engines.sandbox._guard import Guard

work, kept, text, when = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]

def killed(self, before):
    os.kill(os.getpid(), signal.SIGKILL)

if when == "while it looks":
    Guard.restore = killed

async def main():
    async with runner(work, SandboxSettings(mode="required", unfinished=kept)) as shell:
        await shell.run(text, 1000)

anyio.run(main)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))
    return write_files(tmp_path / "work", {"src/main.py": "x = 1\n", ".vscode/tasks.json": "mine"})


def kept_in(folder: Path) -> Path:
    return folder / ".toolspan" / "commands"


def server(folder: Path, text: str, when: str = "while it looks") -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SERVER, str(folder), str(kept_in(folder)), text, when])


def children(pid: int) -> list[int]:
    found: list[int] = []
    for each in Path("/proc").iterdir():
        with suppress(OSError):  # others end meanwhile
            if each.name.isdigit() and f"PPid:\t{pid}\n" in (each / "status").read_text():
                found.append(int(each.name))
    return found


def settings(folder: Path) -> SandboxSettings:
    return SandboxSettings(mode="required", unfinished=kept_in(folder))


async def test_what_a_command_made_is_put_aside_at_the_next_start(folder: Path) -> None:
    text = "mkdir -p src/.husky; echo evil > .envrc; ln -s src link; mkdir .git; echo fine > src/main.py"
    assert server(folder, text).wait(BOUND_S) == -signal.SIGKILL
    assert (folder / ".envrc").exists()
    told, left = finish_killed(kept_in(folder))
    assert left == [] and len(told) == 3, told
    assert not any((folder / name).exists() for name in (".envrc", "src/.husky", ".git"))
    assert (folder / ".vscode/tasks.json").read_text() == "mine", "what was there stays"
    assert (folder / "src/main.py").read_text() == "fine\n" and (folder / "link").is_symlink()
    (folder / ".envrc").write_text("mine")
    assert finish_killed(kept_in(folder)) == ([], []), "it is looked for once"


async def test_the_next_server_looks_as_soon_as_it_starts_and_says_so(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "toolspan.yaml").write_text("services: {workspaces: {main: {path: .}}}\n")
    server(folder, "echo evil > .envrc").wait(BOUND_S)
    async with running(load_config(folder / "toolspan.yaml")):
        await until(lambda: ".envrc is now" in caplog.text)
    assert not (folder / ".envrc").exists()


async def test_it_is_put_aside_before_the_next_command_and_that_one_says_so(folder: Path) -> None:
    server(folder, "echo evil > .envrc").wait(BOUND_S)
    async with runner(folder, settings(folder)) as shell:
        _, command = await shell.run("ls -A > seen", 60)
    assert ".envrc" not in (folder / "seen").read_text().splitlines()
    assert ".envrc is now" in str(command.put_aside)


async def test_nothing_is_looked_for_while_a_command_of_the_killed_server_is_alive(folder: Path) -> None:
    """Its supervisor ends it, which may take a while: here it is stopped meanwhile."""
    process = server(folder, "touch begun; sleep 1000", "never")
    await until((folder / "begun").exists)
    (supervisor,) = children(process.pid)
    os.kill(supervisor, signal.SIGSTOP)
    process.kill()
    process.wait(BOUND_S)
    (folder / ".envrc").write_text("evil")  # as the command could make it still
    assert finish_killed(kept_in(folder)) == ([], [])
    assert (folder / ".envrc").exists()
    os.kill(supervisor, signal.SIGCONT)
    await until(lambda: finish_killed(kept_in(folder))[0] != [])
    assert not (folder / ".envrc").exists()


async def test_the_command_has_no_hold_of_what_is_kept(folder: Path) -> None:
    async with runner(folder, settings(folder)) as shell:
        _, output = await ran(shell, "ls -l /proc/self/fd")
        assert str(kept_in(folder)) not in output
        _, output = await ran(shell, "rm -rf .toolspan/commands")
        assert "Read-only" in output
    assert not [*kept_in(folder).iterdir()]


async def test_what_ends_in_order_leaves_nothing_to_look_for(folder: Path) -> None:
    async with runner(folder, settings(folder)) as shell:
        _, command = await shell.run("echo evil > .envrc", 60)
        assert len(command.put_aside) == 1
        background = await shell.background.start("me", "", lambda: shell.start("sleep 1000", 1000))
        assert len([*kept_in(folder).iterdir()]) == 1
        assert finish_killed(kept_in(folder)) == ([], []), "its server is alive"
        assert background.runs
    assert not [*kept_in(folder).iterdir()]


async def test_what_cannot_be_put_aside_is_looked_for_again_and_no_command_runs_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server(folder, "echo evil > .envrc").wait(BOUND_S)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as patched:
        patched.setattr("toolspan_server.engines.sandbox._guard.os.rename", refused)
        assert "could not be renamed" in finish_killed(kept_in(folder))[1][0]
        async with runner(folder, settings(folder)) as shell:
            with pytest.raises(ToolFailure, match=r"\.envrc could not be renamed") as failed:
                await shell.run("true", 60)
        assert failed.value.error_code == "not_put_aside"
    assert len(finish_killed(kept_in(folder))[0]) == 1


async def test_where_nothing_can_be_kept_commands_run_and_that_is_said(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / ".toolspan").write_text("in the way")
    async with runner(folder, settings(folder)) as shell:
        _, command = await shell.run("echo evil > .envrc", 60)
    assert ".envrc is now" in str(command.put_aside) and "kept in memory only" in caplog.text


@pytest.mark.parametrize("text", ["", "{", "[]", '{"folders": 1}', "null"])
async def test_what_was_half_written_was_written_before_any_command(text: str, folder: Path) -> None:
    kept_in(folder).mkdir(parents=True)
    (kept_in(folder) / "half.json").write_text(text)
    (folder / ".envrc").write_text("mine")
    assert finish_killed(kept_in(folder)) == ([], [])
    assert (folder / ".envrc").exists() and not [*kept_in(folder).iterdir()]


async def test_in_another_folder_of_that_path_nothing_is_put_aside(folder: Path, tmp_path: Path) -> None:
    server(folder, "echo evil > .envrc").wait(BOUND_S)
    shutil.move(folder, tmp_path / "before")
    kept = kept_in(tmp_path / "before")
    write_files(folder, {".git/HEAD": "mine"})
    told, left = finish_killed(kept)
    assert left == [] and "look through it yourself" in told[0]
    assert (folder / ".git/HEAD").read_text() == "mine"
