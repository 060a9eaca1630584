"""The tools of ``--workspace`` change nothing that the program obeys which they are part of."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

import anyio
import click
import pytest

from tests.support.cli import toolspan
from tests.support.waiting import BOUND_S
from tests.support.workspaces import write_files
from toolspan_bridge.cli.main import toolspan as group
from toolspan_bridge.errors import UnreachableError
from toolspan_bridge.sessions.chosen.target import servers_of_texts
from toolspan_bridge.toolbox import Toolbox, servers_of
from toolspan_server.config import load_config
from toolspan_server.engines.sandbox._choice import choice
from toolspan_server.engines.upstreams import ServerSpec

pytestmark = pytest.mark.requirement("I24.6.2")

TOOL = "{name: t, description: d, implementation: {type: mock, mock_response: 1}}"
CONFIG = f"""
state_dir: st
handlers: [handler.py]
hooks: [{{point: before_call, python: "hooks.py:look"}}]
auth: {{tokens: [{{file: tokens.txt}}]}}
services: {{upstreams: {{up: {{command: python3, args: [upstream.py]}}}}}}
mcpServers:
  one: {{command: python3, args: [server.py]}}
  two: {{command: python3, args: [WORK/absolute.py]}}
tools:
  registry: [{TOOL}]
  sources: [{{type: openapi, file: api.yaml}}]
"""
API = "{openapi: 3.0.0, info: {title: x, version: '1'}, servers: [{url: 'http://127.0.0.1:1'}], paths: {}}"
FILES = {
    "handler.py": "import helper\n",
    "helper.py": "",
    "hooks.py": "def look(call): return None\n",
    "tokens.txt": "x" * 40 + "\n",
    "api.yaml": API,
    "upstream.py": "",
    "server.py": "import loaded\n",
    "loaded.py": "",
    "absolute.py": "",
    "named.py": "import followed\n",
    "followed.py": "",
    "free.py": "",
}


@asynccontextmanager
async def tools_beside(config: Path, work: Path) -> AsyncGenerator[Toolbox]:
    """The tools of the workspace ``work`` beside ``config``, and a server that the command line names."""
    loaded = load_config(config, import_handlers=False)
    further = servers_of_texts([f"python3 {work / 'named.py'}"])
    servers = [
        spec for spec in servers_of(loaded, workspace=work, further=further) if spec.name == "workspace"
    ]
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect(servers) as toolbox:
            yield toolbox


async def write(toolbox: Toolbox, name: str) -> Any:
    """The result of ``Write`` for the file ``name``."""
    (tool,) = (tool for tool in toolbox.tools if tool.name == "Write")
    arguments = {"file_path": name, "content": "evil\n", "force": True}
    return (await toolbox.call(tool, arguments, "1", approved=True)).result


async def writes(toolbox: Toolbox, name: str) -> bool:
    """Whether ``Write`` changes the file ``name``."""
    result = await write(toolbox, name)
    assert result["success"] or result["error_code"] in ("protected", "hard_link"), result
    return bool(result["success"])


@pytest.fixture(params=["in the workspace", "elsewhere", "by a link"])
def config(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A config, in the workspace ``work`` or not, that names files of the workspace."""
    work = write_files(tmp_path / "work", FILES)
    if request.param == "in the workspace":
        write_files(work, {"toolspan.yaml": CONFIG.replace("WORK", str(work))})
        return work / "toolspan.yaml"
    text = CONFIG.replace("args: [", f"args: [{work}/").replace(f"{work}/WORK", str(work))
    text = text.replace("handler.py", f"{work}/handler.py").replace("file: ", f"file: {work}/")
    text = text.replace("hooks.py:", f"{work}/hooks.py:")
    other = write_files(tmp_path / "other", {"toolspan.yaml": text})
    if request.param == "by a link":
        (other / "toolspan.yaml").rename(work / "toolspan.yaml")
        (other / "toolspan.yaml").symlink_to(work / "toolspan.yaml")
    return other / "toolspan.yaml"


def shared_files(config: Path, work: Path) -> set[str]:
    """Files of the workspace that have a kept one's contents, and places where Toolspan would look."""
    if not (work / "toolspan.yaml").exists():
        return set()
    os.link(work / "toolspan.yaml", work / "second-name.yaml")
    beside = {"toolspan.lock", "st/x"} if config.parent == work else set[str]()
    return {"toolspan.yaml", "second-name.yaml", ".toolspan/x", *beside}


@pytest.mark.anyio
async def test_tools_change_no_file_that_a_config_beside_them_obeys(config: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    names = {*FILES, *shared_files(config, work)}
    async with tools_beside(config, work) as toolbox:
        assert {name for name in names if await writes(toolbox, name)} == {"free.py"}


@pytest.mark.long
@pytest.mark.anyio
@pytest.mark.skipif(
    sys.platform != "linux" or choice().confinement is None, reason="there is no sandbox here"
)
async def test_commands_change_no_file_that_a_config_beside_them_obeys(config: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    names = {*FILES, *shared_files(config, work)}
    before = {name: (work / name).read_bytes() for name in names if (work / name).exists()}
    text = "; ".join(
        f"mkdir -p $(dirname {name}); echo evil >> {name}; rm -f {name}; echo evil > {name}" for name in names
    )
    async with tools_beside(config, work) as toolbox:
        (bash,) = (tool for tool in toolbox.tools if tool.name == "Bash")
        ran = (await toolbox.call(bash, {"command": text}, "1", approved=True)).result
        assert ran["success"], ran
    changed = {
        name for name in names if (work / name).exists() and (work / name).read_bytes() != before.get(name)
    }
    assert changed == {"free.py"}


@pytest.mark.long
@pytest.mark.anyio
async def test_what_the_config_names_later_is_left_alone_too(tmp_path: Path) -> None:
    work = write_files(tmp_path, {"toolspan.yaml": f"tools: {{registry: [{TOOL}]}}\n", "later.py": ""})
    config = work / "toolspan.yaml"
    async with tools_beside(config, work) as toolbox:
        assert await writes(toolbox, "later.py")
        config.write_text(config.read_text() + "handlers: [later.py]\n")
        while (await write(toolbox, "later.py")).get("error_code") != "protected":  # noqa: ASYNC110 - reloads
            await anyio.sleep(0.1)


@pytest.mark.anyio
async def test_handlers_of_every_file_of_the_config_are_left_alone(tmp_path: Path) -> None:
    files = {
        "a/toolspan.yaml": f"tools: {{registry: [{TOOL}]}}\n",
        "b/more.yaml": "handlers: [own.py]\n",
        "b/own.py": "import inner\n",
        "b/inner.py": "",
        "b/free.py": "",
    }
    work = write_files(tmp_path, files)
    loaded = load_config(work / "a/toolspan.yaml", work / "b/more.yaml", import_handlers=False)
    servers = [spec for spec in servers_of(loaded, workspace=work) if spec.name == "workspace"]
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect(servers) as toolbox:
            assert {name for name in files if await writes(toolbox, name)} == {"b/free.py"}


@pytest.mark.anyio
async def test_what_the_command_line_names_is_left_alone_by_the_workspaces_of_the_config(
    tmp_path: Path,
) -> None:
    text = "services: {workspaces: {w: {path: ., protected: []}}}\n"
    text += "tools: {sources: [{type: workspace, workspace: w}]}\n"
    files = {
        "toolspan.yaml": text,
        "named.py": "import followed\n",
        "followed.py": "",
        "free.py": "",
        "sub/a": "",
    }
    work = write_files(tmp_path, files)
    loaded = load_config(work / "toolspan.yaml")
    further = servers_of_texts([f"python3 {work / 'named.py'}"])
    servers = servers_of(loaded, workspace=work / "sub", further=further)
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([spec for spec in servers if spec.name == loaded.name]) as toolbox:
            names = (*files, "sub/.toolspan/x")
            assert {name for name in names if await writes(toolbox, name)} == {"free.py", "sub/a"}


VERBS = {
    "ask": ["q", "--no-save"],
    "chat": [],
    "conversations replay": ["--live-tools"],
    "gateway": ["--port", "0"],
    "lock": [],
    "presets create": ["p", "--tool", "Read", "--instructions", "x"],
    "presets update": ["p", "--tool", "Read"],
    "tools call": ["t"],
    "tools list": [],
    "tools show": ["t"],
    "ui": ["--port", "0"],
}


def verbs_with_a_workspace(command: click.Command, *names: str) -> Iterator[str]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from verbs_with_a_workspace(found, *names, name)
    elif any("--workspace" in parameter.opts for parameter in command.params):
        yield " ".join(names)


def test_every_verb_with_a_workspace_is_looked_at_here() -> None:
    assert set(verbs_with_a_workspace(group)) == VERBS.keys()


@pytest.mark.parametrize("way", ["named", "variable", "found"])
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_tells_the_workspace_what_it_obeys(verb: str, way: str, tmp_path: Path) -> None:
    script = "import sys"
    write_files(tmp_path, {"toolspan.yaml": f"tools: {{registry: [{TOOL}]}}\n", "named.py": script})
    words = [*verb.split(), *VERBS[verb]]
    if verb == "conversations replay":
        (tmp_path / "turns.yaml").write_text("turns: [{calls: [{tool: t, arguments: {}}]}, {text: done}]")
        asked = ("ask", "q", "--json", "-c", "toolspan.yaml", "-m", "scripted/turns.yaml")
        words.append(toolspan(*asked, cwd=tmp_path).json["conversation"])
    started: list[ServerSpec] = []

    def connect(servers: list[ServerSpec], **_options: Any) -> NoReturn:
        started.extend(servers)
        raise UnreachableError("nothing is started")

    chosen = {"named": ["--config", "toolspan.yaml"], "found": ["--trust"]}.get(way, [])
    chosen += ["--server", "python3 named.py"] if verb in ("ask", "chat") and way != "found" else []
    variables = {"TOOLSPAN_CONFIG": "toolspan.yaml"} if way == "variable" else {}
    with patch("toolspan_bridge.sessions.session.Toolbox.connect", connect):
        ran = toolspan(*words, "--workspace", ".", *chosen, cwd=tmp_path, **variables)
    assert "nothing is started" in ran.err, ran
    (workspace,) = (spec for spec in started if spec.name == "workspace")
    command = " ".join(workspace.words)
    assert "toolspan.yaml" in command.partition("--beside ")[2].split()[0]
    assert ("named.py" in command) == ("--server" in chosen)
    assert "named.py" not in workspace.address  # by which answers are remembered
