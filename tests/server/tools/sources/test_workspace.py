"""The tools of a workspace come whole: by a source, by ``--workspace``, as a toolset."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import toolspan
from tests.support.served import BOUND_S, call, command, run
from tests.support.workspaces import answers_of, workspace_config, workspace_tools, write_files
from toolspan_server import ConfigError, load_config, running
from toolspan_server.engines.registration import find_handler
from toolspan_server.tools.handlers import agent, workspace
from toolspan_server.tools.sources.workspace import definitions

pytestmark = pytest.mark.requirement("I12.3.3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "ws", {"a.txt": "hello\n"})


def served(cwd: Path, *options: str | Path) -> dict[Any, Any]:
    """The answers of a server to a handshake (``init``) and to a call of Read (2), by their ids."""
    return answers_of(cwd, options, call(2, "Read", {"file_path": "a.txt"}))


def test_each_module_is_one_tool_named_like_it() -> None:
    places = [*workspace.__path__, *agent.__path__]
    names = sorted(each.name for each in pkgutil.iter_modules(places) if not each.name.startswith("_"))
    tools = [each.name for each in definitions()]
    assert ["".join(part.title() for part in name.split("_")) for name in names] == tools
    assert {"Read", "Write", "Edit", "Glob", "Grep", "NotebookEdit"} <= set(tools)
    for tool, module in zip(tools, names, strict=True):
        handler = find_handler("internal", tool)
        assert handler is not None
        assert handler.__module__.endswith((f".workspace.{module}", f".agent.{module}"))


@pytest.mark.anyio
async def test_a_source_offers_those_that_it_includes_with_their_hints(folder: Path) -> None:
    source = {"include": ["*"], "exclude": ["Bash*"], "prefix": "ws_", "approval": True}
    async with workspace_tools(folder, source=source) as tools:
        listed = {tool.name: tool.config for tool in tools.runtime.registry}
        assert {"ws_Read", "ws_Write"} <= listed.keys()
        read, write = listed["ws_Read"], listed["ws_Write"]
        assert read.annotations is not None
        assert write.annotations is not None
        assert (read.annotations.read_only, write.annotations.destructive) == (True, True)
        assert (read.approval is None, write.approval is None) == (True, False)
        assert "hello" in await tools.good("ws_Read", file_path="a.txt")


READS, CHANGES = "read_only idempotent", "destructive sequential"
HINTS = {
    "Read": READS,
    "Write": f"idempotent {CHANGES}",
    "Edit": "destructive",
    "NotebookEdit": "destructive",
    "Glob": READS,
    "Grep": READS,
    "Bash": "destructive open_world",
    "BashOutput": "read_only",
    "KillShell": "idempotent sequential",
    "WebFetch": f"{READS} open_world",
    "WebSearch": f"{READS} open_world",
    "TodoWrite": f"{READS} sequential",
    "Task": "",
    "EnterPlanMode": f"{READS} sequential",
    "ExitPlanMode": "read_only sequential",
    "AskUserQuestion": "read_only",
}


@pytest.mark.requirement("I12.3.80")
@pytest.mark.parametrize("name", HINTS)
def test_each_tool_has_its_hints_and_what_depends_on_the_order_runs_alone(name: str) -> None:
    (definition,) = (each for each in definitions() if each.name == name)
    hints = ("read_only", "destructive", "idempotent", "open_world", "sequential")
    assert {hint for hint in hints if getattr(definition, hint)} == set(HINTS[name].split())


@pytest.mark.anyio
@pytest.mark.requirement("I12.3.80")
async def test_what_runs_alone_is_listed_so(folder: Path) -> None:
    async with workspace_tools(folder) as tools:
        listed = {tool.name: tool.config.sequential for tool in tools.runtime.registry}
    assert (listed["Write"], listed["Read"]) == (True, False)


@pytest.mark.anyio
async def test_what_needs_approval_is_refused_to_a_client_that_cannot_ask_a_person(folder: Path) -> None:
    async with workspace_tools(folder, source={"approval": True}) as tools:
        refused = await tools.refused("Write", file_path="b.txt", content="b")
        assert refused.startswith("approval_required: ")
        assert not (folder / "b.txt").exists()


def test_a_source_of_an_unknown_workspace_is_a_problem_of_the_config(tmp_path: Path) -> None:
    path = tmp_path / "toolspan.json"
    source = {"type": "workspace", "workspace": "mian"}
    services = {"workspaces": {"main": {"path": "."}}}
    path.write_text(json.dumps({"services": services, "tools": {"sources": [source]}}))
    with pytest.raises(ConfigError, match=r"unknown workspace 'mian'.*main"):
        load_config(path)


@pytest.mark.parametrize("toolset", [(), ("--toolset", "workspace")])
def test_the_server_needs_no_config_for_a_workspace(folder: Path, toolset: tuple[str, ...]) -> None:
    answers = served(folder.parent, "--workspace", folder, *toolset)
    assert answers["init"]["result"]["serverInfo"]["name"] == "workspace"
    assert None not in answers, "its tools are there from the start, and no change of the list is announced"
    assert answers[2]["result"]["content"] == [{"type": "text", "text": "     1\thello"}]


def test_the_toolset_alone_serves_the_folder_where_the_server_starts(folder: Path) -> None:
    assert "hello" in str(served(folder, "--toolset", "workspace")[2])
    (folder / "toolspan.json").write_text("{}")
    asked = [*command("--toolset", "workspace")]
    ran = subprocess.run(asked, check=False, cwd=folder, capture_output=True, text=True, timeout=BOUND_S)
    assert ran.returncode == 2
    assert "no such toolset" in ran.stderr and "--workspace DIR adds the tools of a folder" in ran.stderr


def test_a_workspace_comes_beside_the_tools_of_a_config(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("tools: {registry: [{name: hi, description: Hi., implementation: {type: mock}}]}")
    ran = toolspan("tools", "list", "--json", "--config", str(path), "--workspace", str(folder), cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert {"hi", "Read", "Write"} <= {tool["name"] for tool in ran.json["tools"]}
    answers = served(tmp_path, "--config", path, "--workspace", folder)
    assert answers["init"]["result"]["serverInfo"]["name"] == "toolspan"
    assert answers[2]["result"]["isError"] is False


def test_a_folder_that_is_not_there_is_refused_at_the_start(tmp_path: Path) -> None:
    ran = run(["--workspace", tmp_path / "none"], tmp_path)
    assert ran.returncode == 2
    assert "there is no such folder" in ran.stderr
    assert toolspan("tools", "list", "--workspace", "none", cwd=tmp_path).code == 2


def test_one_call_and_one_question_work_in_a_folder(folder: Path) -> None:
    ran = toolspan("tools", "call", "Read", "file_path=a.txt", "--workspace", ".", cwd=folder)
    assert (ran.code, ran.out) == (0, "     1\thello\n")
    asked = toolspan("ask", "Read the file a.txt", "--workspace", ".", cwd=folder, TOOLSPAN_MODEL="")
    assert asked.code == 0, asked.err
    assert "hello" in asked.out


@pytest.mark.cold
def test_a_config_without_a_workspace_imports_nothing_of_it(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from toolspan_server import load_config, Registry\n"
        "Registry.from_config(load_config('toolspan.yaml'))\n"
        "print([name for name in sys.modules if 'workspace' in name])\n"
    )
    text = "tools: {registry: [{name: e, description: E., implementation: {type: builtin, handler: echo}}]}"
    (tmp_path / "toolspan.yaml").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_the_config_of_the_tests_is_one_that_may_be_written(folder: Path, tmp_path: Path) -> None:
    config = workspace_config(folder, tmp_path / "state", protected=[".git", ".env"], limits={"results": 5})
    assert config.services.entries("workspaces")["main"].limits.results == 5


@pytest.mark.anyio
@pytest.mark.requirement("I12.3.50")
async def test_the_config_of_the_whole_toolset_serves_every_tool() -> None:
    config = load_config(Path(__file__).parents[4] / "configs" / "workspace.yaml", environ={})
    async with running(config) as runtime:
        await runtime.settled()
        served = {tool.name for tool in runtime.registry}
    assert served == {each.name for each in definitions()}
    fourteen = "Read Write Edit Glob Grep Bash WebFetch WebSearch Task TodoWrite EnterPlanMode ExitPlanMode"
    assert {*fourteen.split(), "AskUserQuestion", "NotebookEdit"} <= served
