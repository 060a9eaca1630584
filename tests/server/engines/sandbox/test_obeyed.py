"""What programs outside obey stays as it is, wherever it lies, and cannot be made by a command."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import ran, runner
from tests.support.waiting import until
from tests.support.workspaces import write_files
from toolspan_server import ToolFailure
from toolspan_server.common.obeyed_names import INERT, OBEYED, obeyed_part
from toolspan_server.engines.sandbox import SandboxSettings
from toolspan_server.engines.sandbox import _guard as guards
from toolspan_server.engines.sandbox._choice import choice
from toolspan_server.engines.sandbox._guard import Guard, Obeyed

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I24.6.2")]
confined = pytest.mark.skipif(
    sys.platform != "linux" or choice().confinement is None, reason="bubblewrap does not work here"
)
CONFINED = SandboxSettings(mode="required")
NAMES = [name for name in OBEYED if name != ".*"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "work", {"src/main.py": "x = 1\n", "package.json": "{}"})


def names_below(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


def opened(folder: Path) -> None:
    """Let all folders be listed again."""
    folder.chmod(0o755)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            opened(path)


def git(folder: Path, *words: str) -> None:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *settings, *words], cwd=folder, env=environment, check=True, capture_output=True)


@confined
@pytest.mark.long
@pytest.mark.parametrize("place", ["", "src/", "src/deep/er/"])
async def test_nothing_that_programs_obey_is_changed_or_made_anywhere(folder: Path, place: str) -> None:
    """Walks all names of the list: as a folder that is there, as a file that is there, and as a new one."""
    for name in NAMES:
        there, new = folder / place / "there" / name, folder / place / "new" / name
        there.mkdir(parents=True)
        (there / "inside").write_text("mine")
        new.parent.mkdir(parents=True, exist_ok=True)
    attempts: list[str] = []
    for name in NAMES:
        there, new = f"{place}there/{name}", f"{place}new/{name}"
        attempts += (f"echo evil > {there}/inside", f"echo evil > {there}/more", f"rm -rf {there}")
        attempts += (f"mv {there} {place}moved", f"mkdir -p {new}", f"echo evil > {new}/x")
    async with runner(folder, CONFINED) as shell:
        _, command = await shell.run("; ".join(attempts), 60)
    for name in NAMES:
        there, new = folder / place / "there" / name, folder / place / "new" / name
        assert [each.name for each in there.iterdir()] == ["inside"], name
        assert (there / "inside").read_text() == "mine"
        assert not new.exists(), name
        assert any(f"{place}new/{name} is now" in told for told in command.put_aside), name
    kept = {told.rpartition(" is now ")[2] for told in command.put_aside}
    assert len(kept) >= len(NAMES) and kept <= names_below(folder), "nothing is lost"


@confined
async def test_an_unknown_name_with_a_dot_is_protected_in_the_folder_itself_and_a_harmless_one_is_not(
    folder: Path,
) -> None:
    (folder / ".unheard-of").write_text("mine")
    async with runner(folder, CONFINED) as shell:
        _, command = await shell.run(
            "echo evil > .unheard-of; echo evil > .new-one; echo fine > .gitignore; mkdir .pytest_cache", 60
        )
    assert (folder / ".unheard-of").read_text() == "mine"
    assert not (folder / ".new-one").exists() and ".new-one" in str(command.put_aside)
    assert (folder / ".gitignore").read_text() == "fine\n" and (folder / ".pytest_cache").is_dir()
    assert len(command.put_aside) == 1


@confined
@pytest.mark.long
async def test_the_repository_of_a_worktree_and_of_a_submodule_stays_as_it_is(tmp_path: Path) -> None:
    main, other = tmp_path / "main", tmp_path / "other"
    for each in (main, other):
        each.mkdir()
        git(each, "init", "-q")
        (each / "a").write_text("a")
        git(each, "add", "a")
        git(each, "commit", "-qm", "a")
    git(main, "submodule", "--quiet", "add", str(other), "sub")
    git(main, "worktree", "add", "-q", str(tmp_path / "tree"))
    git(main, "init", "-q", "--separate-git-dir", str(main / "elsewhere"), str(main / "apart"))
    before = {
        path: path.read_bytes()
        for path in main.rglob("*")
        if path.is_file() and path.name in ("config", ".git")
    }
    async with runner(main, CONFINED) as shell:
        for path in before:
            await ran(shell, f"echo evil > {path}; rm -f {path}; echo evil > {path}")
        await ran(shell, "mv .git/modules/sub x; rm -rf .git elsewhere sub/.git; mv elsewhere y")
        _, output = await ran(shell, "git log --oneline; git status --short")
    assert {path: path.read_bytes() for path in before} == before and len(before) >= 5
    assert " a\n" in output, "git still reads"
    pointer = (tmp_path / "tree/.git").read_text()
    async with runner(tmp_path / "tree", CONFINED) as shell:
        await ran(
            shell, "echo gitdir: evil.git > .git; rm .git; mkdir -p evil.git; echo gitdir: x > .git", 60
        )
    assert (tmp_path / "tree/.git").read_text() == pointer


@confined
async def test_git_changes_its_data_where_the_settings_say_so_and_its_settings_never(folder: Path) -> None:
    git(folder, "init", "-q")
    settings = SandboxSettings(mode="required", git_data=True)
    config = (folder / ".git/config").read_bytes()
    async with runner(folder, settings) as shell:
        ending, output = await ran(
            shell, "git add -A && git -c user.name=a -c user.email=a@b commit -qm made && git log --oneline"
        )
        assert ending.status == 0, output
        assert "made" in output
        _, command = await shell.run(
            "echo evil > .git/config; echo evil > .git/hooks/pre-commit; echo /evil > .git/commondir; "
            "mv .git x; mkdir .git/modules",
            60,
        )
    assert (folder / ".git/config").read_bytes() == config
    assert not (folder / ".git/hooks/pre-commit").exists()
    assert not (folder / ".git/commondir").exists() and not (folder / ".git/modules").exists()
    assert "commondir" in str(command.put_aside)


@confined
async def test_a_repository_under_another_name_is_put_out_of_use(folder: Path) -> None:
    async with runner(folder, CONFINED) as shell:
        _, command = await shell.run(
            "mkdir -p x/objects x/refs x/y/.vscode; echo ref: refs/heads/a > x/HEAD; echo > x/config",
            60,
        )
    assert not (folder / "x/HEAD").exists() and not (folder / "x/y/.vscode").exists()
    assert len(command.put_aside) == 2


@confined
async def test_a_link_by_a_protected_name_is_made_again_and_what_it_leads_to_stays(folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "real/tasks.json").write_text("mine")
    (folder / ".vscode").symlink_to("real")
    async with runner(folder, CONFINED) as shell:
        await ran(
            shell, "echo evil > real/tasks.json; rm .vscode; mkdir .vscode; echo evil > .vscode/tasks.json"
        )
    assert (folder / ".vscode").readlink() == Path("real")
    assert (folder / ".vscode/tasks.json").read_text() == "mine"


@confined
async def test_a_further_name_of_a_file_that_programs_obey_stays_as_it_is(folder: Path) -> None:
    git(folder, "init", "-q")
    write_files(
        folder,
        {
            ".vscode/tasks.json": "mine",
            "sub/.envrc": "mine",
            ".unheard-of": "mine",
            ".git/hooks/pre-commit": "mine",
        },
    )
    names = {".vscode/tasks.json": "a.json", "sub/.envrc": "node_modules/b/env", ".unheard-of": "src/c"}
    names[".git/hooks/pre-commit"] = "src/d"
    (folder / "node_modules/b").mkdir(parents=True)
    for obeyed, name in names.items():
        os.link(folder / obeyed, folder / name)
    os.link(folder / "src/main.py", folder / "other.py")
    async with runner(folder, CONFINED) as shell:
        for obeyed, name in names.items():
            _, output = await ran(
                shell, f"echo evil > {name}; rm -f {name}; ln {obeyed} new; ln package.json .vscode/x"
            )
            assert "Read-only" in output, name
        await ran(shell, "echo fine > other.py; ln package.json .envrc")
    assert {(folder / obeyed).read_text() for obeyed in names} == {"mine"}
    assert (folder / "src/main.py").read_text() == "fine\n" and not (folder / ".envrc").exists()
    assert not (folder / "new").exists() and not (folder / ".vscode/x").exists()


@confined
@pytest.mark.parametrize("place", ["sub", "deep/er/sub"])
async def test_what_a_link_leads_to_is_looked_through_wherever_it_lies(folder: Path, place: str) -> None:
    """``node_modules`` is not looked through, as nobody works in it: a link has people work there."""
    write_files(folder, {f"{place}/readme": "", "node_modules/there/readme": ""})
    (folder / "was-there").symlink_to("node_modules/there")
    new = "mkdir -p node_modules/a/b/.vscode node_modules/a/deep; "
    new += (
        f"rm -rf {place}; ln -s $PWD/node_modules/a/b {place}; ln -s deep/../../.. node_modules/a/b/around; "
    )
    new += "echo evil | tee node_modules/a/b/.envrc > was-there/.envrc; git init -q was-there/git"
    async with runner(folder, CONFINED) as shell:
        _, command = await shell.run(new, 60)
    for path in (f"{place}/.vscode", f"{place}/.envrc", "was-there/.envrc", "was-there/git/.git"):
        assert not (folder / path).exists(), path
    assert len(command.put_aside) == 5, "of a repository HEAD as well"


@confined
@pytest.mark.parametrize("before", [False, True])
async def test_a_name_that_a_link_completes_counts(folder: Path, before: bool) -> None:
    if before:
        write_files(folder, {"packages/.bin/tool": "mine"})
        (folder / "node_modules").symlink_to("packages")
    text = "mkdir -p packages/.bin; ln -s packages node_modules; echo evil > packages/.bin/tool"
    async with runner(folder, CONFINED) as shell:
        await ran(shell, text)
    tool = folder / "node_modules/.bin/tool"
    assert tool.read_text() == "mine" if before else not tool.exists()


@confined
async def test_a_link_around_in_a_circle_ends_and_one_to_what_stays_changes_nothing(folder: Path) -> None:
    write_files(folder, {".vscode/deep/.envrc": "mine"})
    for name, target in (("a", "."), ("src/up", ".."), ("b", "c"), ("c", "b"), ("d", ".vscode"), ("e", "/")):
        (folder / name).symlink_to(target)
    async with runner(folder, CONFINED) as shell:
        _, command = await shell.run("ln -s src/up/src/up/src src/again; echo evil > d/deep/.envrc", 60)
    assert command.put_aside == [] and (folder / ".vscode/deep/.envrc").read_text() == "mine"


async def test_what_is_put_aside_is_reached_through_no_link(folder: Path, tmp_path: Path) -> None:
    outside = write_files(tmp_path / "outside", {".git/config": "mine"})
    guard = Guard([folder])
    before = guard.look()
    (folder / "x").mkdir()
    (folder / "x/.git").mkdir()
    seen = guard.look()
    (folder / "x/.git").rmdir()
    (folder / "x").rmdir()
    (folder / "x").symlink_to(outside)

    def look_again(_: Guard, found: Obeyed, *_more: object, **_named: object) -> None:
        found.paths.update(seen.paths)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Guard, "_look", look_again)
        told = guard.restore(before)
    assert (outside / ".git/config").read_text() == "mine" and "look at it yourself" in told[0]


@confined
async def test_a_command_in_the_background_is_looked_after_too(folder: Path) -> None:
    async with runner(folder, CONFINED) as shell:
        started = await shell.background.start("me", "", lambda: shell.start("mkdir -p src/.husky", 60))
        await started.command.finished()
        assert "husky" in started.command.put_aside[0]
    assert not (folder / "src/.husky").exists()


@confined
async def test_what_a_person_saves_anew_while_a_command_runs_is_put_aside_whole_and_named(
    folder: Path,
) -> None:
    """An editor puts another file in the place of the old one; a command could as well from then on."""
    (folder / ".envrc").write_text("old")
    async with runner(folder, CONFINED) as shell:
        command = await shell.start("while [ ! -e go ]; do sleep 0.05; done", 60)
        write_files(folder, {".envrc~": "mine", ".vscode/tasks.json": "mine"})
        (folder / ".envrc~").replace(folder / ".envrc")
        (folder / "go").touch()
        await command.finished()
    names = [told.rpartition(" is now ")[2] for told in command.put_aside]
    assert sorted(name.partition("-")[2].partition("-")[2][7:] for name in names) == ["envrc", "vscode"]
    kept = sorted(
        path.read_text()
        for name in names
        for path in (folder / name, *(folder / name).glob("*"))
        if path.is_file()
    )
    assert kept == ["mine", "mine"]


@confined
async def test_what_one_command_made_is_new_for_those_that_began_while_it_ran(folder: Path) -> None:
    """The second begins when the first has made it, and makes it anew when that was put aside."""
    again = "while [ -e .vscode ]; do sleep 0.05; done; mkdir .vscode; echo evil > .vscode/tasks.json"
    async with runner(folder, CONFINED) as shell:
        stay = "touch {0}; while [ -e {0} ]; do sleep 0.05; done"
        one = await shell.start(f"mkdir .vscode; git init -q s; {stay.format('made')}", 60)
        await until((folder / "made").exists)
        two = await shell.start(f"rm made; {again}; git init -q s; {stay.format('made2')}", 60)
        await one.finished()
        assert ".vscode is now" in str(one.put_aside)
        await until((folder / "made2").exists)
        (folder / "made2").unlink()
        await two.finished()
        assert ".vscode is now" in str(two.put_aside)
        assert not (folder / ".vscode").exists() and not (folder / "s/.git/HEAD").exists()
        (folder / ".husky").mkdir()
        _, three = await shell.run("touch .husky/x; true", 60)
        assert three.put_aside == [] and not (folder / ".husky/x").exists(), "it was there before"


@confined
@pytest.mark.skipif(os.geteuid() == 0, reason="the permissions of POSIX hold nothing back from root")
@pytest.mark.parametrize("mode", ["555", "111", "000"])
async def test_a_folder_that_is_shut_keeps_nothing_that_programs_obey(folder: Path, mode: str) -> None:
    text = "mkdir .vscode; git init -q s; mkdir -p deep/.husky; echo x > .envrc"
    async with runner(folder, CONFINED) as shell:
        _, command = await shell.run(f"{text}; chmod {mode} deep s/.git s .", 60)
        told = str(command.put_aside)
        assert all(f"{name} is now" in told for name in (".vscode", ".envrc", "deep/.husky", "s/.git"))
        opened(folder)
        assert not names_below(folder) & {".vscode", ".envrc", ".husky", "HEAD"}
        await ran(shell, "true")


@confined
@pytest.mark.skipif(os.geteuid() == 0, reason="the permissions of POSIX hold nothing back from root")
async def test_a_link_into_a_folder_that_is_shut_ends_no_look(folder: Path) -> None:
    text = "mkdir -p deep/er/.idea node_modules/x/y .vscode; ln -s deep/er a; ln -s node_modules/x/y b;"
    async with runner(folder, CONFINED) as shell:
        _, command = await shell.run(
            f"{text} mkdir node_modules/x/y/.husky; chmod 000 deep node_modules/x", 60
        )
        assert len(command.put_aside) == 2, "nobody gets to the third"
        _, command = await shell.run("chmod 755 node_modules/x", 60)
        assert "husky is now" in str(command.put_aside)


@confined
async def test_while_something_could_not_be_put_aside_no_command_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    async with runner(folder, CONFINED) as shell:
        with monkeypatch.context() as patched:
            patched.setattr("os.rename", refused)
            _, command = await shell.run("mkdir .vscode", 60)
            assert ".vscode could not be renamed" in str(command.put_aside)
            with pytest.raises(ToolFailure, match=r"\.vscode could not be renamed \(Permission denied\)"):
                await ran(shell, "touch made")
        assert not (folder / "made").exists()
        await ran(shell, "touch made")
    assert (folder / "made").exists() and not (folder / ".vscode").exists()


def test_what_lies_in_the_folder_itself_is_put_aside_before_the_look_below(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is ended while it looks through a large folder has put the most important aside."""
    guard = Guard([folder])
    before = guard.look()
    for name in (".vscode", "src/.husky"):
        (folder / name).mkdir()
    there: list[bool] = []
    listed = Guard._listed  # pyright: ignore[reportPrivateUsage] # what is looked at is seen nowhere else

    def looked(self: Guard, found: Obeyed, here: Path, *, after: bool) -> list[os.DirEntry[str]]:
        if here != folder:
            there.append((folder / ".vscode").exists())
        return listed(self, found, here, after=after)

    monkeypatch.setattr(Guard, "_listed", looked)
    told = guard.restore(before)
    assert there and not any(there)
    assert len(told) == 2 and not (folder / "src/.husky").exists()


def test_what_a_crowd_of_files_hides_is_put_aside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guard = Guard([folder])
    before = guard.look()
    (folder / ".vscode").mkdir()
    monkeypatch.setattr(guards, "MOST_ENTRIES", 1)
    told = guard.restore(before)
    assert not (folder / ".vscode").exists() and any("not everything was looked at" in each for each in told)


@confined
async def test_after_a_look_that_was_cut_short_nothing_below_counts_as_old(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with runner(folder, CONFINED) as shell:
        with monkeypatch.context() as patched:
            started = await shell.start("mkdir -p src/.husky; true", 60)
            patched.setattr(guards, "MOST_ENTRIES", 1)
            await started.finished()
            assert "not everything was looked at" in str(started.put_aside)
            with pytest.raises(ToolFailure, match="not everything was looked at"):
                await ran(shell, "true")
        await ran(shell, "true")
    assert not (folder / "src/.husky").exists()


def test_what_was_there_and_is_another_one_now_is_put_aside(folder: Path) -> None:
    (folder / ".vscode").mkdir()
    (folder / ".envrc").write_text("mine")
    guard = Guard([folder])
    before = guard.look()
    assert guard.restore(before) == []
    (folder / ".vscode").rename(folder / "old")
    (folder / ".vscode").mkdir()
    (folder / ".envrc").rename(folder / "old-envrc")
    (folder / ".envrc").symlink_to("evil")
    told = guard.restore(before)
    assert (
        len(told) == 2 and not os.path.lexists(folder / ".vscode") and not os.path.lexists(folder / ".envrc")
    )


@confined
async def test_names_that_the_settings_leave_out_may_be_changed(folder: Path) -> None:
    async with runner(folder, SandboxSettings(mode="required", obeyed=(".git",))) as shell:
        _, command = await shell.run("mkdir .github; echo fine > .github/x", 60)
    assert (folder / ".github/x").exists() and command.put_aside == []


@confined
async def test_a_folder_that_is_too_large_to_be_looked_through_runs_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guards, "MOST_ENTRIES", 2)
    async with runner(folder, CONFINED) as shell:
        with pytest.raises(ToolFailure, match=r"more than 2 files and folders\. A command could"):
            await ran(shell, "touch made")
    assert not (folder / "made").exists()


@confined
async def test_what_is_denied_is_neither_read_nor_listed_nor_reached_by_another_way(folder: Path) -> None:
    write_files(folder, {"secrets/key.txt": "CANARY", "one.txt": "CANARY"})
    (folder / "link").symlink_to("secrets/key.txt")
    async with runner(folder, CONFINED) as shell:
        text = (
            "cat secrets/key.txt link one.txt; ls secrets; cp -r secrets c; mv secrets d; cat d/*; "
            "chmod 777 secrets; cat secrets/*; grep -r CANARY ."
        )
        _, command = await shell.run(text, 60, [folder / "secrets", folder / "one.txt"])
        output = command.output.take()
        fine, _ = await ran(shell, "cat secrets/key.txt")
    assert "CANARY" not in output and "Permission denied" in output
    assert fine.status == 0, "another call may read it"
    assert (folder / "secrets/key.txt").read_text() == "CANARY"


@pytest.mark.parametrize(
    "name",
    [
        ".GIT",
        ".g\u200cit",
        ".Git",
        "a/.git",
        ".git/hooks/x",
        "node_modules/.bin/x",
        "a/Node_Modules/.BIN",
        ".new",
    ],
)
def test_a_name_is_known_in_any_letters(name: str) -> None:
    assert obeyed_part(name.split("/"), OBEYED) is not None


@pytest.mark.parametrize("name", ["git", "src/.new", "node_modules/x", *INERT])
def test_other_names_are_free(name: str) -> None:
    assert obeyed_part(name.replace("*", "x").split("/"), OBEYED) is None
