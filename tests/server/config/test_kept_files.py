"""Tools and commands change nothing that the config has Toolspan run, nor what that loads in turn."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.workspaces import WorkspaceTools, write_files
from toolspan_server import load_config, running
from toolspan_server.config.kept_files import kept_files
from toolspan_server.engines.sandbox._choice import choice

pytestmark = pytest.mark.requirement("I24.6.2")

CONFIG = """
services: {workspaces: {main: {path: .}}}
tools: {sources: [{type: workspace, workspace: main, approval: false}]}
"""


def kept(folder: Path, config: str = "") -> set[str]:
    """The files that are there and are kept, of a folder with ``config`` in addition to a workspace."""
    (folder / "toolspan.yaml").write_text(CONFIG + config)
    found = kept_files(load_config(folder / "toolspan.yaml", import_handlers=False))
    return {path.relative_to(folder).as_posix() for path in found if path.exists()}


def server(*words: str, cwd: str = ".") -> str:
    return f"mcpServers: {{one: {{command: {words[0]}, args: [{', '.join(words[1:])}], cwd: {cwd}}}}}\n"


PYTHON = {
    "server.py": "import json, helper as h\nfrom pack.sub import (\n  thing,\n  other,\n)\nload('late')\n",
    "helper.py": "from pack import more\n",
    "pack/__init__.py": "from . import first\nfrom .second import x\n",
    "pack/first.py": "import pack.third\n",
    "pack/second.py": "from ..pack import fourth  # from a package\n",
    "pack/third.py": "",
    "pack/fourth.py": "open('settings.json')\n",
    "pack/more.py": "",
    "pack/sub/__init__.py": "",
    "pack/sub/thing.py": "",
    "pack/sub/other.py": "",
    "pack/sub/unused.py": "",
    "late.py": "",
    "settings.json": "{}",
    "unused.py": "",
    "notes.md": "",
}
SCRIPTS = {
    "server.js": "import a from './lib/a'; const b = require(`./lib/b.cjs`)\n",
    "lib/a.ts": "export * from '../other'; import('./late.mjs')\n",
    "lib/b.cjs": "",
    "lib/late.mjs": "",
    "lib/unused.js": "",
    "other/index.js": "",
    "unused.js": "",
}
SHELL = {
    "server.sh": '. ./lib/common.sh\nsource "$(dirname "$0")/lib/more"\nexec python3 tools/run.py\n',
    "lib/common.sh": "",
    "lib/more": "",
    "lib/unused.sh": "",
    "tools/run.py": "import inner\n",
    "tools/inner.py": "",
    "tools/unused.py": "",
}


@pytest.mark.parametrize(
    ("files", "words", "unused"),
    [
        (PYTHON, ("python3", "server.py"), {"unused.py", "pack/sub/unused.py", "notes.md"}),
        (PYTHON, ("python3", "-m", "server"), {"unused.py", "pack/sub/unused.py", "notes.md"}),
        (SCRIPTS, ("node", "server.js"), {"unused.js", "lib/unused.js"}),
        (SHELL, ("sh", "server.sh"), {"lib/unused.sh", "tools/unused.py"}),
    ],
    ids=["python", "module", "node", "shell"],
)
def test_what_a_servers_script_names_is_kept_and_what_that_names_in_turn(
    files: dict[str, str], words: tuple[str, ...], unused: set[str], tmp_path: Path
) -> None:
    write_files(tmp_path, files)
    assert kept(tmp_path, server(*words)) == files.keys() - unused


@pytest.mark.parametrize(
    "key", ["handlers: [server.py]", 'hooks: [{point: before_call, python: "server.py:x"}]']
)
def test_so_it_is_for_handlers_and_hooks(key: str, tmp_path: Path) -> None:
    write_files(tmp_path, PYTHON)
    assert kept(tmp_path, key + "\n") == PYTHON.keys() - {"unused.py", "pack/sub/unused.py", "notes.md"}


def test_so_it_is_for_servers_of_an_mcp_json_beside_the_config_and_in_a_workspace(tmp_path: Path) -> None:
    text = '{"mcpServers": {"a": {"command": "python3", "args": ["server.py"], "env": {"X": "1"}}, "b": 3}}'
    write_files(tmp_path, {"server.py": "import helper", "helper.py": "", ".mcp.json": text})
    assert kept(tmp_path) == {"server.py", "helper.py"}
    write_files(tmp_path, {"sub/server.py": "import helper", "sub/helper.py": "", "sub/.mcp.json": text})
    (tmp_path / ".mcp.json").write_text("[")
    (tmp_path / "toolspan.yaml").write_text(CONFIG.replace("path: .", "path: sub"))
    found = kept_files(load_config(tmp_path / "toolspan.yaml"))
    assert {path.name for path in found if path.exists()} == {"server.py", "helper.py"}


@pytest.mark.parametrize("name", ["bin/server.rb", "bin/server.php", "bin/server"])
def test_a_program_that_cannot_be_followed_keeps_its_folder(name: str, tmp_path: Path) -> None:
    write_files(tmp_path, {name: "#!/usr/bin/env ruby\nload 'x' + 'y.rb'\n", "bin/xy.rb": "", "src/a.rb": ""})
    (tmp_path / name).chmod(0o755)
    assert kept(tmp_path, server(f"./{name}")) == {name, "bin"}


def test_the_folder_in_which_one_works_is_not_kept_whole(tmp_path: Path) -> None:
    write_files(tmp_path, {"server.rb": "load 'x.rb'", "x.rb": ""})
    assert kept(tmp_path, server("ruby", "server.rb")) == {"server.rb"}


def test_files_that_name_each_other_and_words_that_lead_out_end_it(tmp_path: Path) -> None:
    project = tmp_path / "project"
    text = (
        "import b, os\nopen('../outside.py'); open('/etc/passwd'); open('a' * 3)\nimport a..b\n"
        + "../" * 3000
    )
    write_files(project, {"a.py": text, "b.py": "import a\n", ".git/HEAD": ""})
    (tmp_path / "outside.py").write_text("")
    assert kept(project, server("python3", "a.py")) == {"a.py", "b.py"}


FILES = {
    "server.py": "import helper\nimport requests\nfrom later import x\n",
    "helper.py": "x = 1\n",
    "own.py": "",
}


@pytest.mark.anyio
async def test_tools_change_none_of_it_and_make_no_module_that_would_be_found_first(tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES, "toolspan.yaml": CONFIG + server("python3", "server.py")})
    async with running(load_config(tmp_path / "toolspan.yaml")) as runtime:
        tools = WorkspaceTools(runtime)
        for name in ("helper.py", "requests.py", "later.py", "requests/__init__.py"):
            refused = await tools.refused("Write", file_path=name, content="evil", force=True)
            assert refused.startswith("protected: "), name
        for name in ("new.py", "src/requests.py"):
            await tools.good("Write", file_path=name, content="x")


@pytest.mark.anyio
@pytest.mark.skipif(
    sys.platform != "linux" or choice().confinement is None, reason="there is no sandbox here"
)
async def test_commands_change_none_of_it_either(tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES, "toolspan.yaml": CONFIG + server("python3", "server.py")})
    async with running(load_config(tmp_path / "toolspan.yaml")) as runtime:
        tools = WorkspaceTools(runtime)
        text = "echo evil > helper.py; rm helper.py; echo evil > requests.py; mkdir later; echo fine > own.py"
        done = await tools.good("Bash", command=f"{text}; touch later/__init__.py")
    assert (tmp_path / "helper.py").read_text() == "x = 1\n" and (tmp_path / "own.py").read_text() == "fine\n"
    assert not (tmp_path / "requests.py").exists() and not (tmp_path / "later/__init__.py").exists()
    assert len(done["put_aside"]) == 2
