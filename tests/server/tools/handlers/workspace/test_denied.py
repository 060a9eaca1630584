"""Rules that deny paths hold where files are opened: for each tool, by whatever path they are reached."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.workspaces import workspace_config, workspace_tools, write_files
from toolspan_server.engines.sandbox._choice import choice

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I24.2.2")]

CANARY = "CANARY"
FILES = {
    "secrets/key.txt": f"{CANARY}\n",
    "secrets/public/readme.txt": "public\n",
    "open/notes.txt": "notes\n",
    "deep/er/.env": f"TOKEN={CANARY}\n",
    "deep/er/code.py": "code\n",
}
DENY: list[dict[str, Any]] = [{"action": "deny", "paths": ["secrets/**", "**/.env"], "reason": "never"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = write_files(tmp_path / "folder", FILES)
    (made / "link").symlink_to("secrets/key.txt")
    (made / "folder-link").symlink_to("secrets")
    (made / '"').symlink_to("secrets")
    os.link(made / "secrets/key.txt", made / "open/hard.txt")
    return made


def ruled(folder: Path, *rules: dict[str, Any], **entry: Any) -> Any:
    return workspace_tools(folder, config={"approvals": {"rules": list(rules or DENY)}}, **entry)


def commit(folder: Path, name: str) -> None:
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", "-f", name], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True)


SPELLINGS = [
    "secrets/key.txt",
    "./secrets//key.txt",
    '"secrets/key.txt"',
    r'"\x73ecrets/key.txt"',
    r'"secrets\u002fkey.txt"',
    "link",
    "folder-link/key.txt",
    '"\\"/key.txt"',
    "open/hard.txt",
    "{folder}/secrets/key.txt",
    '"{folder}/secrets/./key.txt"',
    "deep/er/.env",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_no_spelling_of_a_denied_path_is_read(folder: Path, spelling: str) -> None:
    async with ruled(folder) as tools:
        refused = await tools.refused("Read", file_path=spelling.replace("{folder}", str(folder)))
    assert refused.startswith("denied_by_rule: ") and CANARY not in refused
    async with workspace_tools(folder) as tools:
        await tools.good("Read", file_path=spelling.replace("{folder}", str(folder)))


@pytest.mark.parametrize("spelling", ["secrets/key.txt", '"secrets/new.txt"', "folder-link/new.txt"])
async def test_a_denied_path_is_neither_written_nor_edited(folder: Path, spelling: str) -> None:
    async with ruled(folder) as tools:
        for name, given in (
            ("Write", {"file_path": spelling, "content": "x", "force": True}),
            ("Edit", {"file_path": spelling, "old_string": CANARY, "new_string": "x"}),
            ("NotebookEdit", {"notebook_path": spelling, "cell_id": "a", "new_source": "x"}),
        ):
            assert (await tools.refused(name, **given)).startswith("denied_by_rule: "), name
    assert (folder / "secrets/key.txt").read_text() == f"{CANARY}\n"
    assert not (folder / "secrets/new.txt").exists()


async def test_searches_from_above_leave_out_what_is_denied_and_count_it(folder: Path) -> None:
    async with ruled(folder) as tools:
        for path in (".", "deep", "open", str(folder)):
            found = await tools.good("Grep", pattern=CANARY, path=path, output_mode="content")
            assert found["lines"] == []
            assert found["denied_by_rules"] >= 1, path
        listed = await tools.good("Glob", pattern="**/*", include_ignored=True)
    assert listed["files"] == ['"\\""', "deep/er/code.py", "folder-link", "link", "open/notes.txt"]
    assert listed["denied_by_rules"] == 3, "the folder, the file named .env, and the hard link"


@pytest.mark.parametrize("start", ["secrets", "folder-link", '"secrets"', "secrets/public"])
async def test_a_search_does_not_start_in_a_denied_folder(folder: Path, start: str) -> None:
    async with ruled(folder) as tools:
        for name in ("Grep", "Glob"):
            assert (await tools.refused(name, pattern="*" if name == "Glob" else ".", path=start)).startswith(
                "denied_by_rule: "
            )


async def test_the_first_rule_that_means_a_file_counts(folder: Path) -> None:
    excepted = {"action": "allow", "paths": ["secrets/public/**"]}
    async with ruled(folder, excepted, *DENY) as tools:
        await tools.good("Read", file_path="secrets/public/readme.txt")
        await tools.refused("Read", file_path="secrets/key.txt")
        found = await tools.good("Grep", pattern=".", path="secrets")
    assert found["files"] == ["secrets/public/readme.txt"]


async def test_under_another_policy_only_rules_that_deny_count(folder: Path) -> None:
    rules = [{"action": "allow", "paths": ["secrets/public/**"]}, *DENY]
    config = {"approvals": {"policy": "destructive", "rules": rules}}
    async with workspace_tools(folder, config=config) as tools:
        await tools.refused("Read", file_path="secrets/public/readme.txt")


async def test_a_rule_counts_for_the_tools_servers_and_arguments_that_it_names(folder: Path) -> None:
    async def reads(**conditions: Any) -> bool:
        async with ruled(folder, {"action": "deny", "paths": ["secrets/**"], **conditions}) as tools:
            return (await tools.result("Read", file_path="secrets/key.txt", limit=3)).success

    assert not await reads(tools=["Re*"])
    assert await reads(tools=["Write"])
    assert await reads(servers=["another"])
    assert not await reads(arguments={"limit": "3"})
    assert await reads(arguments={"limit": "4"})


async def test_what_was_changed_before_a_rule_came_is_neither_shown_nor_undone(folder: Path) -> None:
    async with workspace_tools(folder) as tools:
        await tools.good("Read", file_path="secrets/key.txt")
        await tools.good("Write", file_path="secrets/made.txt", content=CANARY)
    async with ruled(folder) as tools:
        shown = await tools.good("Changes")
        undone = await tools.good("Undo", all=True)
    assert CANARY not in str(shown) and "denied" in shown["files"][0]["status"]
    assert undone["undone"] == [] and "denied" in undone["kept"][0]["why"]


async def test_rules_reach_into_further_roots(folder: Path, tmp_path: Path) -> None:
    root = write_files(tmp_path / "root", {"x/.env": CANARY, "x/fine": "fine"})
    async with ruled(folder, roots=[{"path": str(root)}]) as tools:
        await tools.refused("Read", file_path=f"{root}/x/.env")
        await tools.good("Read", file_path=f"{root}/x/fine")
        assert (await tools.good("Grep", pattern=CANARY, path=str(root)))["files"] == []


@pytest.mark.parametrize("glob", ["secrets", "./secrets/", "secrets/*", "folder-link/**", "sécrets/**"])
async def test_a_folder_that_is_meant_is_meant_with_all_in_it(folder: Path, glob: str) -> None:
    import unicodedata

    name = "sécrets" if "é" in glob else "secrets"
    write_files(folder, {f"{unicodedata.normalize('NFD', name)}/public/readme.txt": "public"})
    async with ruled(folder, {"action": "deny", "paths": [glob]}) as tools:
        path = f"{unicodedata.normalize('NFD', name)}/public/readme.txt"
        assert (await tools.refused("Read", file_path=path)).startswith("denied_by_rule: ")


async def test_a_name_in_other_letters_is_another_file_where_the_file_system_says_so(folder: Path) -> None:
    write_files(folder, {"SECRETS/other.txt": "other"})
    if (folder / "secrets/other.txt").exists():
        pytest.skip("this file system ignores case")
    async with ruled(folder) as tools:
        await tools.good("Read", file_path="SECRETS/other.txt")


async def test_a_file_that_is_exchanged_between_looking_and_opening_stays_denied(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolspan_server.engines.workspace.opening import denial

    look = denial.DeniedPaths.check_asked

    def exchanged(self: denial.DeniedPaths, place: Any) -> None:
        look(self, place)
        if not (folder / "open/notes.txt").is_symlink():
            (folder / "open/notes.txt").unlink()
            (folder / "open/notes.txt").symlink_to("../secrets/key.txt")

    monkeypatch.setattr(denial.DeniedPaths, "check_asked", exchanged)
    async with ruled(folder) as tools:
        assert CANARY not in (await tools.refused("Read", file_path="open/notes.txt"))


async def test_where_the_system_does_not_tell_which_file_is_open_none_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolspan_server.engines.workspace.opening.denial.path_of", lambda _: None)
    async with ruled(folder) as tools:
        assert (await tools.refused("Read", file_path="open/notes.txt")).startswith("denied_by_rule: ")


async def test_a_file_with_several_names_is_denied_where_there_is_too_much_to_look_for_them(
    folder: Path,
) -> None:
    async with ruled(folder, limits={"entries": 3}) as tools:
        assert "limits.entries" in await tools.refused("Read", file_path="open/hard.txt")
        await tools.good("Read", file_path="open/notes.txt")


async def test_rules_that_change_hold_without_a_restart(folder: Path) -> None:
    state = folder.parent / "state"
    async with workspace_tools(folder) as tools:
        await tools.good("Read", file_path="secrets/key.txt")
        ruled_config = workspace_config(folder, state, config={"approvals": {"rules": DENY}})
        await tools.runtime.replace(ruled_config)
        assert (await tools.refused("Read", file_path="secrets/key.txt")).startswith("denied_by_rule: ")


@pytest.mark.long
@pytest.mark.skipif(
    sys.platform != "linux" or choice().confinement is None, reason="bubblewrap does not work here"
)
async def test_a_command_in_the_sandbox_does_not_see_what_is_denied(folder: Path) -> None:
    reads = "cat secrets/key.txt link folder-link/key.txt open/hard.txt deep/er/.env; cat open/notes.txt"
    async with ruled(folder) as tools:
        ran = await tools.good("Bash", command=reads)
        started = await tools.good("Bash", command=f"{reads}; sleep 600", run_in_background=True)
        await tools.good("KillShell", shell_id=started["bash_id"])
        later = await tools.good("BashOutput", bash_id=started["bash_id"])
    assert CANARY not in ran["output"] + later["output"]
    assert "notes" in ran["output"] and ran["output"].count("Permission denied") == 5
    of_others = {"action": "deny", "tools": ["Read"], "paths": ["secrets/**"]}
    async with ruled(folder, of_others) as tools:
        assert CANARY in (await tools.good("Bash", command=reads))["output"]


@pytest.mark.long
@pytest.mark.skipif(
    sys.platform != "linux" or choice().confinement is None, reason="bubblewrap does not work here"
)
async def test_what_git_has_stored_of_a_denied_file_is_hidden_by_a_rule_for_its_objects(folder: Path) -> None:
    name = "secrets/committed.txt"
    write_files(folder, {name: CANARY})
    commit(folder, name)
    paths = ["secrets/**", ".git/objects/**"]
    async with ruled(folder, {"action": "deny", "paths": paths}) as tools:
        ran = await tools.good("Bash", command=f"git show HEAD:{name}; cat {name}")
        assert CANARY not in ran["output"]


@pytest.mark.long
@pytest.mark.skipif(
    sys.platform != "linux" or choice().confinement is None, reason="bubblewrap does not work here"
)
@pytest.mark.requirement("I24.6.2")
async def test_a_result_says_what_was_put_aside_and_what_to_do(folder: Path) -> None:
    async with workspace_tools(folder) as tools:
        ran = await tools.good("Bash", command="mkdir -p src/.github")
        assert ran["put_aside"][0].startswith("src/.github is now put-aside-")
        assert "protected" in ran["put_aside_because"]
        assert "put_aside" not in await tools.good("Bash", command="true")
    async with workspace_tools(folder, protected=[]) as tools:
        assert "put_aside" not in await tools.good("Bash", command="mkdir -p src/.github")


@pytest.mark.requirement("I24.6.2")
@pytest.mark.parametrize(
    "path", [".github/x.yml", "sub/.vscode/tasks.json", "node_modules/.bin/tool", ".new", "a/.GIT/x"]
)
async def test_tools_that_change_files_leave_the_same_names_as_they_are(folder: Path, path: str) -> None:
    async with workspace_tools(folder) as tools:
        assert (await tools.refused("Write", file_path=path, content="x")).startswith("protected: ")
        await tools.good("Write", file_path=".gitignore", content="x")
    async with workspace_tools(folder, protected=[]) as tools:
        await tools.good("Write", file_path=path, content="x")
    real, link = path.rpartition("/")[0] or ".", folder / "way"
    link.symlink_to(real)
    async with workspace_tools(folder) as tools:
        name = path.rpartition("/")[2]
        assert (await tools.refused("Write", file_path=f"way/{name}-new", content="x")).startswith(
            "protected: "
        )
