"""What a confined command can reach: its folder, the system to read, and nothing else."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from tests.support.commands import ran, runner
from toolspan_server.engines.sandbox import SandboxSettings
from toolspan_server.engines.sandbox._bubblewrap import Bubblewrap
from toolspan_server.engines.sandbox._choice import choice
from toolspan_server.engines.sandbox._reach import Reach
from toolspan_server.engines.sandbox._seatbelt import Seatbelt, profile

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.3.22")]
confined = pytest.mark.skipif(
    sys.platform != "linux" or choice().confinement is None, reason="bubblewrap does not work here"
)
CONFINED = SandboxSettings(mode="required")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("of the person")
    made = tmp_path / "workspace"
    (made / ".git/hooks").mkdir(parents=True)
    (made / ".git/config").write_text("[core]\n")
    (made / "tools.yaml").write_text("version: 1\n")
    return made


@confined
async def test_a_confined_command_sees_nothing_outside_of_its_folder(workspace: Path) -> None:
    async with runner(workspace, CONFINED) as shell:
        _, output = await ran(
            shell, f"cat {workspace.parent}/secret; cat ../secret; ls /home /root /var /run"
        )
    assert "of the person" not in output
    assert output.count("No such file") >= 5


@confined
async def test_a_confined_command_changes_nothing_outside_of_its_folder(workspace: Path) -> None:
    async with runner(workspace, CONFINED) as shell:
        places = "/ /etc /usr /dev /proc " + str(workspace.parent)
        _, output = await ran(
            shell, f"for place in {places}; do touch $place/made && echo wrote $place; done"
        )
        assert "wrote /\n" not in output
        assert "wrote /etc" not in output
        assert "wrote /usr" not in output
        assert "wrote /dev" not in output
        assert "wrote /proc" not in output
    assert not (workspace.parent / "made").exists()


@confined
async def test_a_link_in_the_folder_leads_to_nothing_outside(workspace: Path) -> None:
    (workspace / "link").symlink_to(workspace.parent / "secret")
    async with runner(workspace, CONFINED) as shell:
        ending, output = await ran(shell, "cat link")
    assert (ending.status, "of the person" in output) == (1, False)


@confined
async def test_what_runs_outside_of_the_sandbox_cannot_be_changed_nor_moved_away(workspace: Path) -> None:
    settings = SandboxSettings(mode="required", protected=[workspace / "tools.yaml"])
    attempts = (
        "echo evil > .git/hooks/pre-commit",
        "echo evil > .git/config",
        "echo evil > tools.yaml",
        "rm -f tools.yaml",
        "mv .git other && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
        "mv tools.yaml other",
        "rm -rf .git",
    )
    async with runner(workspace, settings) as shell:
        for attempt in attempts:
            await ran(shell, attempt)
        await ran(shell, "echo evil > .git/HEAD; echo fine > new")
    assert list((workspace / ".git/hooks").iterdir()) == []
    assert (workspace / ".git/config").read_text() == "[core]\n"
    assert (workspace / "tools.yaml").read_text() == "version: 1\n"
    assert not (workspace / ".git/HEAD").exists()
    assert (workspace / "new").read_text() == "fine\n"


@confined
async def test_a_kept_file_stays_behind_a_link_and_under_its_other_names(workspace: Path) -> None:
    (workspace / "tools").mkdir()
    (workspace / "tools/real.sh").write_text("mine")
    (workspace / "srv.sh").symlink_to("tools/real.sh")
    (workspace / "guard.py").write_text("mine")
    os.link(workspace / "guard.py", workspace / "other-name")
    settings = SandboxSettings(mode="required", protected=[workspace / "srv.sh", workspace / "guard.py"])
    async with runner(workspace, settings) as shell:
        await ran(shell, "echo evil > other-name; echo evil > tools/real.sh; mv tools moved; rm guard.py")
        _, command = await shell.run("rm srv.sh; echo evil > srv.sh; ls", 60)
    for name in ("srv.sh", "tools/real.sh", "guard.py", "other-name"):
        assert (workspace / name).read_text() == "mine", name
    assert (workspace / "srv.sh").is_symlink() and "leads to tools/real.sh again" in str(command.put_aside)


_CONNECT = (
    "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)' && echo connected"
)


@confined
@pytest.mark.parametrize("allowed", [False, True])
async def test_the_network_is_there_when_it_is_allowed(workspace: Path, *, allowed: bool) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        text = _CONNECT.format(port=listening.getsockname()[1])
        async with runner(workspace, SandboxSettings(mode="required", network=allowed)) as shell:
            _, output = await ran(shell, text)
    assert ("connected" in output) is allowed


@confined
async def test_other_processes_are_neither_seen_nor_ended(workspace: Path) -> None:
    async with runner(workspace, CONFINED) as shell:
        _, output = await ran(shell, f"kill -0 {os.getpid()} && echo reached; ls /proc | grep -c '^[0-9]'")
    assert "reached" not in output
    assert int(output.split()[-1]) < 10


@confined
async def test_rights_are_not_gained_and_no_new_namespaces_made(workspace: Path) -> None:
    async with runner(workspace, CONFINED) as shell:
        _, output = await ran(shell, "grep CapEff /proc/self/status; unshare -Ur true && echo nested")
    assert "CapEff:\t0000000000000000" in output
    assert "nested" not in output


@confined
async def test_further_folders_are_read_or_written_as_the_settings_say(
    workspace: Path, tmp_path: Path
) -> None:
    read, written = tmp_path / "read", tmp_path / "written"
    for folder in (read, written):
        folder.mkdir()
        (folder / "file").write_text(folder.name)
    settings = SandboxSettings(mode="required", readable=[read], writable=[written])
    async with runner(workspace, settings) as shell:
        _, output = await ran(
            shell, f"cat {read}/file {written}/file; echo x > {read}/new; echo x > {written}/new"
        )
        report = await shell.describe()
    assert output.startswith("readwritten")
    assert ((read / "new").exists(), (written / "new").exists()) == (False, True)
    assert report == {
        "kind": "bubblewrap",
        "network": False,
        "writable": [str(workspace), str(written)],
        "readable": [str(read)],
    }


@confined
async def test_temporary_files_last_until_the_server_ends_and_memory_used_as_files_is_bounded(
    workspace: Path,
) -> None:
    async with runner(workspace, SandboxSettings(mode="required"), memory_bytes=64 << 20) as shell:
        await ran(shell, "echo kept > /tmp/file; echo kept > ~/file")
        _, output = await ran(
            shell, "cat /tmp/file ~/file; head -c 50000000 /dev/zero > /dev/shm/x; wc -c < /dev/shm/x"
        )
    assert output.startswith("kept\nkept\n")
    assert int(output.split()[-1]) <= 16 << 20


async def test_a_server_that_needs_a_sandbox_runs_nothing_without_one(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolspan_server import ToolFailure
    from toolspan_server.engines.sandbox._choice import Choice

    monkeypatch.setattr(
        "toolspan_server.engines.sandbox._runner.choice", lambda: Choice(None, "bubblewrap is not installed")
    )
    async with runner(workspace, CONFINED) as shell:
        with pytest.raises(ToolFailure, match="bubblewrap is not installed") as caught:
            await ran(shell, "touch ran")
    assert caught.value.error_code == "no_sandbox"
    assert not (workspace / "ran").exists()
    async with runner(workspace) as shell:
        assert await shell.describe() == {"kind": "none", "why": "bubblewrap is not installed"}


_RECORDER = """#!{python}
import json, os, sys
with open({record!r}, "w") as file:
    json.dump(sys.argv[1:], file)
os.execvp(sys.argv[{place}], sys.argv[{place}:])
"""


def recorder(folder: Path, place: str) -> tuple[Path, Path]:
    """A program that writes its arguments down and runs the command after them; and where it writes them."""
    program, record = folder / "program", folder / "record.json"
    program.write_text(_RECORDER.format(python=sys.executable, record=str(record), place=place))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program, record


async def test_the_command_line_of_bubblewrap_holds_back_everything_that_is_not_named(
    workspace: Path, tmp_path: Path
) -> None:
    reach = Reach(workspace, tmp_path, protected=[workspace / ".git"])
    words = Bubblewrap("bwrap", frozenset()).command(["true"], reach, 8, 1)
    joined = " ".join(words)
    for option in ("--unshare-user", "--unshare-pid", "--unshare-net", "--die-with-parent", "--cap-drop ALL"):
        assert option in joined
    assert "--size" not in joined
    assert "--disable-userns" not in joined
    assert f"--bind {workspace} {workspace}" in joined
    assert f"--ro-bind {workspace}/.git {workspace}/.git" in joined
    assert words[-1] == "true"


async def test_sandbox_exec_gets_a_profile_and_runs_the_command(workspace: Path, tmp_path: Path) -> None:
    import subprocess

    program, record = recorder(tmp_path, "3")
    reach = Reach(
        workspace,
        tmp_path / "temporary",
        readable=(tmp_path / 'a "quoted" folder',),
        protected=[workspace / ".git"],
        denied=[workspace / "secret"],
        obeyed=[".git", "node_modules/.bin", ".*"],
    )
    words = Seatbelt(str(program)).command(["/bin/echo", "ran"], reach, 8, 1)
    assert subprocess.check_output(words) == b"ran\n"  # noqa: ASYNC221 - it ends at once
    option, given, *command = json.loads(record.read_text())
    assert (option, command) == ("-p", ["/bin/echo", "ran"])
    assert given == profile(reach)
    assert "(deny default)" in given
    assert "(allow network*)" not in given
    assert f'(subpath "{tmp_path}/a \\"quoted\\" folder")' in given
    assert f'(deny file-read* file-write* (subpath "{workspace}/secret"))' in given
    assert "/(.*/)?" in given and given.index("[.][^/]+") < given.index("[gG][iI][tT][iI]"), (
        "what is inert comes last"
    )
    assert given.index("(deny file-write*") > given.index("(allow file-read* file-write*")
    assert "(allow network*)" in profile(Reach(workspace, tmp_path, network=True))
