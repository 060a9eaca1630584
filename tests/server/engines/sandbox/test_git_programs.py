"""What git runs by its settings and hooks is changed by no command and no tool, wherever it lies."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.commands import ran, runner
from tests.support.workspaces import write_files
from toolspan_server import ToolFailure
from toolspan_server.common.git_programs import read_settings
from toolspan_server.common.obeyed_names import OBEYED
from toolspan_server.engines.sandbox import SandboxSettings
from toolspan_server.engines.sandbox._choice import choice
from toolspan_server.engines.sandbox._set_id import set_id_filter
from toolspan_server.engines.workspace import Protection, Workspace

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.requirement("I24.6.2"),
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not here, which is not Python"),
]
confined = pytest.mark.skipif(
    sys.platform != "linux" or choice().confinement is None, reason="bubblewrap does not work here"
)
CONFINED = SandboxSettings(mode="required")
MINE, EVIL = "#!/bin/sh\nexit 0\n", "#!/bin/sh\ntouch EVIL\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    made = write_files(
        tmp_path / "work",
        dict.fromkeys(("scripts/hooks/pre-commit", "scripts/run.sh", "scripts/clean.py", "tool"), MINE)
        | {"src/main.py": "x = 1\n", "extra.ini": "[user]\n\tname = a\n", "package.json": "{}\n"},
    )
    for path in ("scripts/hooks/pre-commit", "scripts/run.sh", "tool"):
        (made / path).chmod(0o755)
    git(made, "init", "-q")
    return made


def modes_below(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mode for path in folder.rglob("*") if path.is_file()}


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def set_to(name: str, value: str) -> Callable[[Path], None]:
    return lambda folder: git(folder, "config", name, value)


def linked_hook(folder: Path) -> None:
    (folder / ".git/hooks/pre-commit").symlink_to("../../scripts/run.sh")


def hard_linked_hook(folder: Path) -> None:
    (folder / ".git/hooks/pre-commit").hardlink_to(folder / "scripts/run.sh")


def hook_that_names(text: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / ".git/hooks/pre-commit").write_text(text)
        (folder / ".git/hooks/pre-commit").chmod(0o755)

    return make


def included(folder: Path) -> None:
    git(folder, "config", "include.path", "../extra.ini")
    (folder / "extra.ini").write_text("[core]\n\thooksPath = scripts/hooks\n")


def of_user(folder: Path) -> None:
    (folder.parent / "home").mkdir()
    (folder.parent / "home/.gitconfig").write_text("[core]\n\thooksPath = scripts/hooks\n")


def through_link(folder: Path) -> None:
    (folder / "hooks").symlink_to("scripts/hooks")
    git(folder, "config", "core.hooksPath", "hooks")


RUN: dict[str, tuple[Callable[[Path], None], str]] = {
    "core.hooksPath": (set_to("core.hooksPath", "scripts/hooks"), "scripts/hooks/pre-commit"),
    "core.hooksPath, absolute": (
        lambda folder: git(folder, "config", "core.hooksPath", f"{folder}/scripts/hooks"),
        "scripts/hooks/pre-commit",
    ),
    "core.hooksPath of the user": (of_user, "scripts/hooks/pre-commit"),
    "core.hooksPath by a link": (through_link, "scripts/hooks/pre-commit"),
    "core.hooksPath of an included file": (included, "scripts/hooks/pre-commit"),
    "an included file": (included, "extra.ini"),
    "a file that is included on some branch": (
        set_to("includeIf.onbranch:other.path", "../extra.ini"),
        "extra.ini",
    ),
    "a hook that is a link": (linked_hook, "scripts/run.sh"),
    "a hook that is another name of a file": (hard_linked_hook, "scripts/run.sh"),
    "a program that a hook names": (
        hook_that_names('#!/bin/sh\nexec "$(git rev-parse --show-toplevel)"/scripts/run.sh "$@"\n'),
        "scripts/run.sh",
    ),
    "a script that a hook gives to its interpreter": (
        hook_that_names("#!/bin/sh\npython3 scripts/clean.py\n"),
        "scripts/clean.py",
    ),
    "core.fsmonitor": (set_to("core.fsmonitor", "scripts/run.sh"), "scripts/run.sh"),
    "a filter": (set_to("filter.x.clean", "python3 scripts/clean.py %f"), "scripts/clean.py"),
    "a diff driver": (set_to("diff.x.textconv", "./tool"), "tool"),
    "a merge driver": (set_to("merge.x.driver", "sh tool %O %A %B"), "tool"),
    "an alias": (set_to("alias.x", "!f() { ./scripts/run.sh; }; f"), "scripts/run.sh"),
    "any other key": (set_to("never.heardOf", "sh -c 'scripts/run.sh'"), "scripts/run.sh"),
}


@confined
@pytest.mark.parametrize("case", RUN)
async def test_no_command_changes_what_git_runs(folder: Path, case: str) -> None:
    make, path = RUN[case]
    make(folder)
    before = (folder / path).read_bytes()
    above = Path(path).parent
    async with runner(folder, CONFINED) as shell:
        ending, output = await ran(
            shell,
            f"echo evil > {path}; rm -f {path}; echo evil > new; mv new {path}; mv scripts moved; "
            f"[ -L hooks ] && ln -sfn src hooks; [ {above} = . ] || mv {above} away; echo fine > src/main.py",
        )
    assert (folder / path).read_bytes() == before, output
    assert (folder / "src/main.py").read_text() == "fine\n", "people work in the rest"
    assert not (folder / "hooks").is_symlink() or (folder / "hooks").readlink() == Path("scripts/hooks")
    assert ending.status == 0


@pytest.mark.parametrize("case", RUN)
def test_no_tool_changes_what_git_runs(folder: Path, case: str) -> None:
    make, path = RUN[case]
    make(folder)
    workspace = Workspace(folder, folder.parent / "x.sqlite3", protection=Protection(names=OBEYED))
    try:
        with (
            pytest.raises(ToolFailure, match=r"as git runs or obeys it|hard link"),
            workspace.changing(workspace.place(path)),
        ):
            pass
        for free in ("src/main.py", "package.json", "new/file"):
            with workspace.changing(workspace.place(free), make_folders=True):
                pass
    finally:
        workspace.close()


MISSING = {
    "a folder of hooks": (set_to("core.hooksPath", "made/hooks"), "made/hooks/pre-commit"),
    "an included file": (set_to("include.path", "../made.ini"), "made.ini"),
    "a program": (set_to("filter.x.smudge", "made/run %f"), "made/run"),
    "a program that a hook looks for": (hook_that_names("[ -x made/run ] && made/run\n"), "made/run"),
    "hooks in the workspace itself": (set_to("core.hooksPath", "."), "pre-commit"),
}


@confined
@pytest.mark.parametrize("case", MISSING)
async def test_what_git_would_run_if_it_were_there_is_put_aside(folder: Path, case: str) -> None:
    make, path = MISSING[case]
    make(folder)
    async with runner(folder, CONFINED) as shell:
        _, command = await shell.run(
            f"mkdir -p $(dirname {path}) && cp scripts/run.sh {path} && chmod 755 {path}; echo x > other", 60
        )
    assert not (folder / path).exists()
    assert len(command.put_aside) == 1 and "put-aside-" in command.put_aside[0]
    assert (folder / "other").exists()


@confined
async def test_a_new_link_on_the_way_to_what_git_would_run_is_put_aside(folder: Path) -> None:
    git(folder, "config", "core.hooksPath", "made/hooks")
    async with runner(folder, CONFINED) as shell:
        _, command = await shell.run(
            "mkdir -p x/hooks; cp scripts/run.sh x/hooks/pre-commit; ln -s x made", 60
        )
    assert not (folder / "made").is_symlink() and "made is now" in str(command.put_aside)


@confined
async def test_a_repository_that_a_command_makes_takes_no_file_of_the_person_away(folder: Path) -> None:
    git(folder, "config", "include.path", "../made.ini")
    async with runner(folder, CONFINED) as shell:
        await ran(
            shell,
            "printf '[core]\\nhooksPath = src\\n' > made.ini; git init -q sub; "
            "git -C sub config core.hooksPath ../src",
        )
    assert (folder / "src/main.py").read_text() == "x = 1\n"
    assert not (folder / "sub/.git").exists() and not (folder / "made.ini").exists()


@confined
@pytest.mark.parametrize("place", ["tree", "sub", "work/src"])
async def test_the_settings_of_the_repository_count_wherever_it_lies(folder: Path, place: str) -> None:
    """A work tree apart, a submodule, and a workspace that is a folder of one."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    git(folder, "add", "-A")
    git(folder, *identity, "commit", "-qm", "a")
    git(folder, "worktree", "add", "-q", str(folder.parent / "tree"))
    git(folder, *identity, "submodule", "--quiet", "add", str(folder), "sub")
    git(folder, "config", "core.hooksPath", "src/hooks" if place == "work/src" else "scripts/hooks")
    git(folder / "sub", "config", "core.hooksPath", "scripts/hooks")
    there = folder / "sub" if place == "sub" else folder.parent / place
    hook = there / ("hooks/pre-commit" if place == "work/src" else "scripts/hooks/pre-commit")
    hook.parent.mkdir(parents=True, exist_ok=True)
    hook.write_text(MINE)
    async with runner(there, CONFINED) as shell:
        await ran(shell, f"echo evil > {hook}; rm -f {hook}; mv {hook.parent} away; echo evil > {hook}")
    assert hook.read_text() == MINE
    workspace = Workspace(there, folder.parent / "x.sqlite3", protection=Protection(names=OBEYED))
    try:
        with (
            pytest.raises(ToolFailure, match=r"core\.hookspath"),
            workspace.changing(workspace.place(str(hook))),
        ):
            pass
    finally:
        workspace.close()


@confined
async def test_names_that_leave_git_out_leave_out_what_it_runs(folder: Path) -> None:
    git(folder, "config", "core.hooksPath", "scripts/hooks")
    async with runner(folder, SandboxSettings(mode="required", obeyed=(".vscode",))) as shell:
        await ran(shell, "echo changed > scripts/hooks/pre-commit")
    assert (folder / "scripts/hooks/pre-commit").read_text() == "changed\n"


@confined
async def test_settings_that_are_too_large_to_be_read_let_no_command_run(folder: Path) -> None:
    with (folder / ".git/config").open("a") as file:
        file.write("# x\n" * 300_000)
    async with runner(folder, CONFINED) as shell:
        with pytest.raises(ToolFailure, match=r"config is larger than 1,048,576 bytes"):
            await ran(shell, "true")


@confined
@pytest.mark.parametrize(
    "text",
    [
        "cp /bin/true made; chmod 6755 made",
        "cp /bin/true made; chmod u+s made; chmod g+s made",
        "install -m 4755 /bin/true made",
        "mkdir -p node_modules/x; cp /bin/true node_modules/x/made; chmod 4755 node_modules/x/made",
        "mkdir x; cp /bin/true x/made; chmod 4755 x/made; chmod 111 x",
        'perl -e \'use Fcntl; sysopen(F, "made", O_CREAT|O_WRONLY, 04755); syscall(90, "made", 04755)\'',
        "umask 0; python3 -c 'import os; os.open(\"made\", os.O_CREAT | os.O_WRONLY, 0o6755)'",
        "umask 0; python3 -c 'import os; os.mknod(\"made\", 0o106755)'",
    ],
)
async def test_no_set_id_file_is_left_by_a_command(folder: Path, text: str) -> None:
    async with runner(folder, CONFINED) as shell:
        _, output = await ran(shell, f"{text}; touch fine && chmod 755 fine")
    modes = modes_below(folder)
    assert not [path for path, mode in modes.items() if mode & (stat.S_ISUID | stat.S_ISGID)], output
    assert modes[folder / "fine"] & 0o777 == 0o755


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "riscv64"])
def test_the_filter_of_each_processor_is_whole(machine: str) -> None:
    """Every way through it ends at a decision: no jump leaves it."""
    program = set_id_filter(machine) or b""
    steps = [program[at : at + 8] for at in range(0, len(program), 8)]
    for at, step in enumerate(steps):
        if step[0] & 7 == 5:
            assert at + 1 + max(step[2], step[3]) < len(steps)
    assert steps and steps[-1][0] == 6 and set_id_filter("unheard-of") is None


@confined
async def test_a_folder_too_deep_to_be_looked_through_is_said(folder: Path) -> None:
    deep = f"for i in $(seq 30); do mkdir {'d' * 200} && cd {'d' * 200}; done; mkdir .git"
    async with runner(folder, CONFINED) as shell:
        _, command = await shell.run(deep, 60)
    shutil.rmtree(folder / ("d" * 200))
    assert "could not be looked through" in str(command.put_aside)


def test_settings_are_read_as_git_reads_them(folder: Path) -> None:
    text = (
        '[A "b.C"] x = 1 # not\n\ty="a # b" ; c\n  z = one \\\n two\n[core]hooksPath= "a\\\\b" \n'
        '[s.T]\nflag\n; k = v \\\n k2 = \\"q\\" \n'
    )
    (folder / "extra.ini").write_text(text)
    words = ["git", "config", "--list", "-z", "--file", str(folder / "extra.ini")]
    listed = subprocess.run(words, capture_output=True, check=True, text=True).stdout
    known: list[tuple[str, str]] = [
        (each.partition("\n")[0], each.partition("\n")[2]) for each in listed.split("\0") if each
    ]
    assert [(name, value) for name, value in read_settings(text)] == known
    assert dict(known)["s.t.k2"] == '"q"'
