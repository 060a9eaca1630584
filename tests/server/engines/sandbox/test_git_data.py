"""With ``bash.git`` commands change git's data, and nothing by which git runs something later."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import ran, runner
from tests.support.workspaces import write_files
from toolspan_server.engines.sandbox import SandboxSettings
from toolspan_server.engines.sandbox._choice import choice

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.requirement("I24.6.2"),
    pytest.mark.skipif(
        sys.platform != "linux" or choice().confinement is None, reason="bubblewrap does not work here"
    ),
]
SETTINGS = SandboxSettings(mode="required", git_data=True)
AS = "git -c user.name=a -c user.email=a@b -c core.editor=true -c sequence.editor=true"


def git(folder: Path, *words: str, check: bool = True) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.editor=true")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *settings, *words], cwd=folder, env=environment, check=check, capture_output=True, text=True
    )
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with two branches that conflict."""
    made = write_files(tmp_path / "work", {"a": "base\n"})
    git(made, "init", "-qb", "main")
    git(made, "add", ".")
    git(made, "commit", "-qm", "base")
    git(made, "checkout", "-qb", "other")
    write_files(made, {"a": "other\n"})
    git(made, "commit", "-qam", "other")
    git(made, "checkout", "-q", "main")
    write_files(made, {"a": "main\n"})
    git(made, "commit", "-qam", "main")
    return made


@pytest.mark.long
@pytest.mark.parametrize(
    "planting",
    [
        "echo 'exec touch ran' >> .git/rebase-merge/git-rebase-todo",
        "printf 'x\\ttouch ran\\n' > .git/rebase-merge/git-rebase-todo",
        "printf '  exec touch ran\\n' >> .git/rebase-merge/git-rebase-todo",
        "printf 'exec touch ran' > .git/todo; ln -sf ../todo .git/rebase-merge/git-rebase-todo",
        "echo /../../evil > .git/rebase-merge/strategy; mkdir git-merge-; cp /bin/true evil",
        "mv .git/rebase-merge .git/tmp_x; echo 'exec touch ran' >> .git/tmp_x/git-rebase-todo; "
        "ln -s tmp_x .git/rebase-merge",
        "rm .git/rebase-merge/author-script; echo 'touch ran' > .git/rebase-merge/author-script",
    ],
)
async def test_a_planned_step_that_runs_something_is_not_left_to_the_persons_next_rebase(
    planting: str, folder: Path
) -> None:
    async with runner(folder, SETTINGS) as shell:
        _, command = await shell.run(f"{AS} rebase -i other; {planting}", 60)
    assert "rebase-merge is now" in str(command.put_aside)
    git(folder, "checkout", "-q", "--theirs", "a")
    git(folder, "add", "a")
    assert "No rebase in progress" in git(folder, "rebase", "--continue", check=False)
    assert not (folder / "ran").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="the permissions of POSIX hold nothing back from root")
@pytest.mark.parametrize("shut", [".git", ".git/rebase-merge"])
async def test_a_plan_in_a_folder_that_is_shut_is_put_aside(shut: str, folder: Path) -> None:
    plant = (
        "mkdir .git/rebase-merge; echo 'exec touch ran' > .git/rebase-merge/git-rebase-todo; mkdir .vscode"
    )
    async with runner(folder, SETTINGS) as shell:
        _, command = await shell.run(f"{plant}; chmod 000 {shut}", 60)
        assert f"{shut} is now" in str(command.put_aside) or f"{shut}/HEAD is now" in str(command.put_aside)
        assert ".vscode is now" in str(command.put_aside)
        await shell.run("true", 60)


@pytest.mark.parametrize("operation", ["cherry-pick", "revert"])
async def test_a_cherry_pick_with_a_strategy_of_its_own_is_put_aside(operation: str, folder: Path) -> None:
    async with runner(folder, SETTINGS) as shell:
        _, command = await shell.run(
            f"{AS} {operation} other~1 other; mkdir -p .git/sequencer; "
            "printf '[options]\\n\\tstrategy = /../evil\\n' > .git/sequencer/opts",
            60,
        )
    assert "sequencer is now" in str(command.put_aside)


async def test_a_rebase_that_stops_goes_on_in_the_next_command(folder: Path) -> None:
    async with runner(folder, SETTINGS) as shell:
        ending, command = await shell.run(f"{AS} rebase other", 60)
        assert ending.status != 0 and command.put_aside == []
        ending, output = await ran(shell, f"echo both > a; git add a; {AS} rebase --continue")
        assert ending.status == 0, output
        _, command = await shell.run(
            f"{AS} rebase -x 'touch within' HEAD~1; echo x > a; {AS} stash; {AS} gc -q", 60
        )
        assert command.put_aside == []
    assert (folder / "within").exists(), "in the sandbox it may run what it likes"
    assert not (folder / ".git/rebase-merge").exists()
    assert git(folder, "log", "--format=%s").split() == ["main", "other", "base"]


async def test_a_persons_own_plan_with_a_command_stays_as_it_is(folder: Path) -> None:
    git(folder, "rebase", "-x", "touch ran", "other", check=False)
    plan = (folder / ".git/rebase-merge/git-rebase-todo").read_text()
    assert "exec touch ran" in plan
    async with runner(folder, SETTINGS) as shell:
        _, command = await shell.run(
            "echo 'exec touch evil' > .git/rebase-merge/git-rebase-todo; rm -rf .git/rebase-merge; git log",
            60,
        )
    assert (folder / ".git/rebase-merge/git-rebase-todo").read_text() == plan
    assert command.put_aside == []


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    (
        *(
            "remotes/origin",
            "branches/origin",
            "extra",
            "hooks2/pre-commit",
            "svn/config",
            "annex/x",
            "CONFIG",
        ),
        *(
            "config.worktree",
            "commondir",
            "info/attributes",
            "worktrees/x/gitdir",
            "modules/x/config",
            "BISECT_RUN",
        ),
    ),
)
async def test_what_is_not_known_as_data_cannot_be_made_in_a_git_directory(name: str, folder: Path) -> None:
    (folder / ".git" / "mine").write_text("mine")
    async with runner(folder, SETTINGS) as shell:
        _, command = await shell.run(
            f"mkdir -p $(dirname .git/{name}); echo evil > .git/{name}; echo evil > .git/mine; rm .git/mine",
            60,
        )
    assert not (folder / ".git" / name).exists()
    assert (folder / ".git/mine").read_text() == "mine"
    top = name.split("/")[0]
    assert top in ("info", "branches") or f".git/{top} is now" in str(command.put_aside), "or it was there"
