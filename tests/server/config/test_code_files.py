"""Trust is bound to contents: to all code that a command line leads to, and to all settings."""

from __future__ import annotations

import os
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.server.config.test_restricted import EVERYTHING, leaves, put
from toolspan_server.common.state.folder import private_folder
from toolspan_server.config import code_files, load_config
from toolspan_server.config.code_files import MOST_FILES, FolderCode
from toolspan_server.config.models.sent_variable import UntrustedItem
from toolspan_server.errors import ConfigError

pytestmark = pytest.mark.requirement("I24.1.2")

LAUNCHED: list[list[str]] = [
    ["uvx", "mcp-server-sqlite", "--db-path", "data.db"],
    ["uvx", "--from", "mcp-server-git==1.2", "mcp-server-git", "--repository", "/srv/elsewhere"],
    ["uvx", "--index", "https://packages.example/simple", "-p", "3.12", "mcp-server-time"],
    ["/usr/local/bin/uvx", "mcp-server-time@latest"],
    ["uv", "tool", "run", "mcp-server-time"],
    ["npx", "-y", "mcp-remote", "https://mcp.example/src?a=1", "--header", "X-Key: word"],
    ["npx", "-y", "@modelcontextprotocol/server-filesystem", ".", "src"],
    ["npx", "-y", "-p", "some-package@1.2.3", "some-server"],
    ["docker", "run", "-i", "--rm", "-e", "TOKEN", "-v", "/srv/elsewhere:/data", "mcp/time"],
]
RUNS_THE_FOLDER: list[list[str]] = [
    ["python3", "-m", "server"],
    ["./run.sh"],
    ["make", "start"],
    ["some-program"],
    ["uv", "run", "own-server"],
    ["uvx", "--from", ".", "own-server"],
    ["uvx", "--with-editable", "src", "some-server"],
    ["uvx", "--unknown", "some-server"],
    ["uvx", "uvicorn", "server:app"],
    ["uvx", "some-server", "run", "server.py"],
    ["uvx", "python", "-m", "server"],
    ["./uvx", "some-server"],
    ["npx", "./src"],
    ["npx", "tsx", "src/main.js"],
    ["npx", "tsx", "server"],
    ["npx", "tsx", "./src"],
    ["npx", "tsx", "src"],
    ["npx", "tsx", "."],
    ["npx", "tsx", "ser*"],
    ["npx", "tsx", "$PWD/server"],
    ["npx", "tsx", "src/main"],
    ["npx", "tsx", "missing/../server.py"],
    ["npx", "tsx", "file:./%73erver.py"],
    ["npx", "tsx", "SERVER"],
    ["npx", "tsx", "main"],
    ["npx", "tsx", "{a,server}"],
    ["uvx", "ipython", "-mpdb"],
    ["uvx", "ipython", " ".join(map(str, range(300)))],
    ["npx", "tsx", "-rsrc/main"],
    ["npx", "-y", "server@.pkg"],
    ["npx", "-y", "server@."],
    ["npx", "-y", "-p", "server@~/pkg", "server"],
    ["npx", "-y", "-p", "server@.pkg", "server"],
    ["npx", "-y", "server@1.TGZ"],
    ["uvx", "robot", "src"],
    ["uvx", "--from", "uvicorn", "uvicorn", "src:app"],
    ["uvx", "some-server", "--config=server"],
    ["uvx", "some-server", "--app", "src.lib.app"],
    ["uvx", "some-server", "--root", "/"],
    ["uvx", "--index", "./src", "some-server"],
    ["uvx", "--default-index=src", "some-server"],
    ["uvx", "--extra-index-url", "file:///srv/src", "some-server"],
    ["uvx", "-i", "missing", "some-server"],
    ["uvx", "-p", "src", "some-server"],
    ["uvx", "some-server@.pkg"],
    ["uvx", "mcp-server-git", "--repository", "."],
    ["pipx", "run", "some-server"],
    ["npx", "some-server", "python server.py"],
    ["docker", "run", "-v", ".:/app", "python:3.12", "python", "/app/server.py"],
    ["docker", "compose", "up"],
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name in ("server.py", "src/main.js", "src/lib/deep.so", "notes.md", "data.db", "run.sh"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    return folder


def run_of(folder: Path, *words: str, cwd: str | None = None, **env: str) -> dict[str, str]:
    """The hashes of what a command line in ``folder`` may run."""
    code = FolderCode(folder)
    code.add_command(words, cwd, env)
    return code.contents()


def changed(folder: Path, name: str, *words: str, **env: str) -> set[str]:
    """The parts that are others once ``name`` has another content."""
    before = run_of(folder, *words, **env)
    assert run_of(folder, *words, **env) == before
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("ab") as file:
        file.write(b"another")
    after = run_of(folder, *words, **env)
    return {part for part in {*before, *after} if before.get(part) != after.get(part)}


@pytest.mark.parametrize("words", RUNS_THE_FOLDER, ids=" ".join)
def test_what_may_run_the_folder_is_bound_to_all_code_in_it(words: list[str], project: Path) -> None:
    for name in ("gettext.py", "src/lib/deep.so", "lib/common.pm", "native.node", "types.cts", "tasks.rb"):
        assert changed(project, name, *words) == {f"file {name}"}


@pytest.mark.parametrize("words", LAUNCHED, ids=" ".join)
def test_a_package_or_an_image_that_is_fetched_by_its_name_is_not(words: list[str], project: Path) -> None:
    for name in ("server.py", "gettext.py", "data.db"):
        assert changed(project, name, *words) == set()


def test_a_package_is_bound_to_the_folder_where_its_variables_may_name_something_in_it(project: Path) -> None:
    words = ("uvx", "mcp-server-time")
    assert changed(project, "server.py", *words, TOKEN="x", DATA="data.db") == set()
    for variables in ({"PYTHONPATH": "."}, {"HOME": "src"}, {"PLUGIN": "server"}, {"X": "a;file:./src/main"}):
        assert changed(project, "server.py", *words, **variables) == {"file server.py"}


def test_of_data_that_a_package_is_given_the_file_counts_alone(project: Path) -> None:
    for words in (("uvx", "ipython", "notes.md"), ("npx", "some-server", "-rnotes.md", "--db=data.db")):
        assert changed(project, "notes.md", *words) == {"file notes.md"}
        assert changed(project, "server.py", *words) == set()


def test_a_file_of_settings_that_a_package_is_given_counts_with_the_folder_that_it_may_name(
    project: Path,
) -> None:
    (project / "own.json").write_text("{}")
    words = ("npx", "some-proxy", "--config=own.json")
    assert changed(project, "own.json", *words) == {"file own.json"}
    assert changed(project, "server.py", *words) == {"file server.py"}


@pytest.mark.parametrize("above", ["", "../"])
@pytest.mark.parametrize(
    "name", ["package.json", "node_modules/some-server/index.js", "node_modules/.bin/some-server"]
)
def test_what_npx_reads_of_all_folders_above_counts(above: str, name: str, project: Path) -> None:
    (project / ".git").mkdir()
    (project / "package.json").write_text('{"name": "own"}')
    (project / "sub").mkdir()
    (project / "sub" / "package.json").write_text('{"name": "decoy"}')
    words = ("npx", "-y", "some-server@1")
    assert changed(project / "sub", "server.py", *words) == set()
    folder = project / "sub" if above else project
    assert f"file {above}{name}" in changed(folder, f"{above}{name}", *words)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".npmrc", "node-options=--require ./server.js"),
        ("package.json", '{"name": "own", "bin": {"some-server": "server.py"}}'),
        ("package.json", '{"name": "own", "directories": {"bin": "programs"}}'),
        ("package.json", '{"workspaces": ["src"]}'),
        ("package.json", "{"),
    ],
)
def test_npx_is_bound_to_a_folder_that_has_programs_or_settings_for_it(
    name: str, text: str, project: Path
) -> None:
    (project / name).write_text(text)
    assert changed(project, "server.py", "npx", "-y", "some-server@1") == {"file server.py"}


@pytest.mark.parametrize("name", ["notes.md", "data.db", "log/today.log", "pictures/a.PNG", "x.csv"])
def test_texts_and_databases_change_without_a_question(name: str, project: Path) -> None:
    for words in (
        ("python3", "server.py"),
        ("python3.12", "-m", "server"),
        ("./run.sh",),
        ("node", "src/main.js"),
    ):
        assert changed(project, name, *words, "--db", "data.db") == set()


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["python3", "notes.md"], "notes.md"),
        (["python3", "-u", "data.db"], "data.db"),
        (["python3", "-W", "ignore", "data.db"], "data.db"),
        (["node", "--require", "./src/main.js", "--import=./data.db", "server.js"], "data.db"),
        (["bash", "-c", "cd . && python3 data.db"], "data.db"),
        (["bash", "-c", "./notes.md;true"], "notes.md"),
        (["bash", "-c", "exec python3 $PWD/notes.md"], "notes.md"),
        (["bash", "-c", "exec python3 note*.md"], "notes.md"),
        (["bash", "-c", "exec python3 'no'tes.md"], "notes.md"),
        (["bash", "-c", "cd sub && exec python3 notes.md"], "sub/notes.md"),
        (["sh", "-c", "sh<notes.md"], "notes.md"),
        (["make", "-s", "-fnotes.md"], "notes.md"),
        (["make", "server.py", "-f", "notes.md"], "notes.md"),
        (["make", "-m", "server", "-f", "notes.md"], "notes.md"),
        (["make", "-C", "sub", "-fnotes.md"], "sub/notes.md"),
        (["java", "@notes.md"], "notes.md"),
        (["./run.sh", "--script", "server.py"], "server.py"),
        (["python3", "server.py"], "requirements.txt"),
        (["python3", "server.py"], "requirements/dev.txt"),
    ],
    ids=str,
)
def test_what_an_interpreter_is_given_counts_whatever_it_ends_in(
    words: list[str], name: str, project: Path
) -> None:
    assert changed(project, name, *words) == {f"file {name}"}


def test_no_file_is_left_out_because_of_its_content(project: Path) -> None:
    (project / "server.pyz").write_bytes(b"SQLite format 3\0")
    (project / "large.py").write_bytes(b"\0" * 3_000_000)
    for name in ("server.pyz", "large.py"):
        assert changed(project, name, "python3", "server.pyz") == {f"file {name}"}


def test_an_executable_text_is_code(project: Path) -> None:
    (project / "notes.md").chmod(0o755)
    assert changed(project, "notes.md", "python3", "server.py") == {"file notes.md"}


def test_what_lies_past_the_first_64_mib_of_a_file_counts(project: Path) -> None:
    with (project / "server.pyz").open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    (part,) = changed(project, "server.pyz", "python3", "server.pyz")
    assert part.startswith("file server.pyz")


def test_the_folder_behind_a_linked_script_counts(project: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared" / "app"
    shared.mkdir(parents=True)
    (shared / "main.py").write_text("")
    (project / "linked.py").symlink_to("../shared/app/main.py")
    assert changed(project, "../shared/app/main.py", "python3", "linked.py") == {
        "file linked.py",
        "file ../shared/app/main.py",
    }
    assert changed(project, "../shared/app/helper.py", "python3", "linked.py") == {
        "file ../shared/app/helper.py"
    }


def test_links_in_the_folder_are_followed_and_what_they_say_counts(project: Path, tmp_path: Path) -> None:
    (tmp_path / "packages" / "lib").mkdir(parents=True)
    (project / "node_modules").mkdir()
    (project / "node_modules" / "lib").symlink_to("../../packages/lib")
    (project / "evil.py").symlink_to("notes.md")
    (project / "round").symlink_to(".")
    words = ("node", "src/main.js")
    assert changed(project, "../packages/lib/index.js", *words) == {"file node_modules/lib/index.js"}
    assert changed(project, "notes.md", *words) == {"file evil.py"}
    before = run_of(project, *words)
    (project / "evil.py").unlink()
    (project / "evil.py").symlink_to("data.db")
    assert run_of(project, *words)["link evil.py"] != before["link evil.py"]


def test_the_repository_that_the_config_lies_in_counts_whole(project: Path) -> None:
    (project / ".git").mkdir()
    (project / "tools").mkdir()
    (project / "tools" / "toolspan.yaml").write_text("")
    assert changed(project / "tools", "../lib/x.js", "node", "serve.js") == {"file ../lib/x.js"}
    assert changed(project / "tools", "toolspan.yaml", "node", "serve.js") == set()


def test_neither_git_nor_our_own_state_is_walked_unless_a_word_leads_there(project: Path) -> None:
    private_folder(project / ".toolspan")
    for name in (".git/config", ".toolspan/state.py"):
        assert changed(project, name, "python3", "server.py") == set()
    (project / ".git" / "hooks").mkdir()
    (project / ".git" / "hooks" / "run").write_text("")
    words = ("bash", ".git/hooks/run")
    assert changed(project, ".git/hooks/beside", *words) == {"file .git/hooks/beside"}


def test_a_state_folder_that_came_with_the_folder_is_walked(project: Path) -> None:
    (project / ".toolspan").mkdir()
    (project / ".toolspan" / "run.py").write_text("")
    assert changed(project, ".toolspan/run.py", "python3", "server.py") == {"file .toolspan/run.py"}


@pytest.mark.parametrize("flag", ["-I", "-E", "-uE", "-Xpycache_prefix=x"])
def test_compiled_modules_count_where_a_program_may_run_them(flag: str, project: Path) -> None:
    name = "__pycache__/helper.cpython-311.pyc"
    assert changed(project, name, "python3", "-m", "server") == set()
    assert changed(project, name, "python3", flag, "server.py") == {f"file {name}"}
    assert changed(project, name, "./run.sh") == {f"file {name}"}
    for name in ("helper.pyc", "__pycache__/helper.pyc", "__pycache__/helper.py", "__pycache__/sub/a.py"):
        assert changed(project, name, "python3", "-m", "server") == {f"file {name}"}


def test_of_a_large_folder_sizes_and_times_are_compared(project: Path) -> None:
    (project / "node_modules").mkdir()
    for number in range(MOST_FILES + 1):
        (project / "node_modules" / f"{number}.js").touch()
    part = "folder node_modules (its files' sizes and times)"
    assert changed(project, "server.py", "node", "src/main.js") == {"file server.py"}
    assert changed(project, "node_modules/new.js", "node", "src/main.js") == {part}
    path = project / "node_modules" / "7.js"
    path.write_text("old")
    times = path.stat()
    before = run_of(project, "node", "src/main.js")
    path.write_text("new")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert run_of(project, "node", "src/main.js")[part] != before[part]


def test_a_folder_too_large_to_compare_is_another_one_each_time(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_files, "MOST_LISTED", 3)
    first, second = run_of(project, "node", "x"), run_of(project, "node", "x")
    assert first != second and any("it is asked about each time" in name for name in first)


def test_pipes_are_not_waited_for(project: Path) -> None:
    for name in ("server.pipe", "package.json", "pipe.py"):
        os.mkfifo(project / name)
    assert "file server.pipe (not a regular file)" in run_of(project, "python3", "server.pipe")
    run_of(project, "npx", "some-server")


@pytest.mark.parametrize("cwd", ["~nobody-has-this-name/x", "round", "missing", "/"])
def test_a_working_directory_that_is_none_keeps_nothing_from_being_compared(cwd: str, project: Path) -> None:
    (project / "round").symlink_to("round")
    assert "file server.py" in run_of(project, "python3", "server.py", cwd=cwd)


def test_a_working_directory_beside_the_folder_counts_whole(project: Path, tmp_path: Path) -> None:
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "server.py").write_text("")
    found = run_of(project, "python3", "-m", "server", cwd="../beside")
    assert {"file server.py", "file ../beside/server.py"} <= set(found)


def test_a_folder_that_cannot_be_read_is_named(project: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("the permissions of POSIX hold nothing back from root")
    (project / "src").chmod(0)
    try:
        assert "folder src (it cannot be read)" in run_of(project, "node", "x")
    finally:
        (project / "src").chmod(0o755)


def items(folder: Path, document: Any) -> dict[tuple[str, str], UntrustedItem]:
    (folder / "toolspan.yaml").write_text(yaml.safe_dump(document))
    found = load_config(folder / "toolspan.yaml", restricted=True).withheld
    return {(item.place, item.what): item for item in found}


ACTING = [
    path
    for path in leaves(EVERYTHING)
    if not {"description", "title", "instructions", "examples", "$schema", "tags", "icons"} & set(path)
]


def another(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value - 1 if value > 1 else value + 1
    return f"{value}x"


@pytest.mark.long
def test_any_other_setting_of_a_trusted_config_is_another_one(tmp_path: Path) -> None:
    """Also one that is inert by itself: beside what is trusted it may matter."""
    (tmp_path / "theirs.py").write_text(
        "from toolspan_server import handler\n\n@handler('theirs_restricted')\ndef f(a, c): ...\n"
    )
    (tmp_path / "api.json").write_text("{}")
    before = items(tmp_path, EVERYTHING)
    assert items(tmp_path, EVERYTHING) == before
    tried = 0
    for path in ACTING:
        try:
            after = items(tmp_path, put(EVERYTHING, path, another))
        except ConfigError:
            continue
        tried += 1
        assert after != before, path
        assert any(before.get(key) != item for key, item in after.items()), path
    assert tried > 60


def test_a_rule_that_denies_and_is_taken_away_is_another_config(tmp_path: Path) -> None:
    document: dict[str, Any] = {
        "approvals": {"rules": [{"action": "deny", "paths": ["secrets/**"]}]},
        "mcpServers": {"x": {"command": "x"}},
    }
    before = items(tmp_path, document)
    changed = deepcopy(document)
    changed["approvals"]["rules"][0]["paths"] = ["nothing"]
    assert items(tmp_path, changed) != before


MOCK_BEFORE_A_SHELL: dict[str, Any] = {
    "services": {"workspaces": {"w": {"path": "."}}},
    "tools": {
        "sources": [{"type": "workspace", "workspace": "w"}],
        "registry": [
            {
                "name": "what",
                "description": "d",
                "implementation": {"type": "mock", "mock_response": {"cmd": "echo one"}},
            },
            {
                "name": "shown",
                "description": "d",
                "implementation": {
                    "type": "mock",
                    "content": [{"type": "resource", "resource": {"uri": "a://b", "file": "answer.txt"}}],
                },
            },
            {
                "name": "go",
                "description": "d",
                "implementation": {
                    "type": "pipeline",
                    "steps": [
                        {"id": "a", "tool": "what"},
                        {"id": "b", "tool": "Bash", "arguments": {"command": "{{ steps.a.result.cmd }}"}},
                    ],
                },
            },
        ],
    },
}


def test_a_mock_whose_answer_another_tool_may_act_on_counts_with_its_files(tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text("one")
    before = items(tmp_path, MOCK_BEFORE_A_SHELL)
    path = ("tools", "registry", 0, "implementation", "mock_response", "cmd")
    assert items(tmp_path, put(MOCK_BEFORE_A_SHELL, path, another)) != before
    assert items(tmp_path, MOCK_BEFORE_A_SHELL) == before
    (tmp_path / "answer.txt").write_text("two")
    assert items(tmp_path, MOCK_BEFORE_A_SHELL) != before
