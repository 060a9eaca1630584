"""Without a sandbox no command runs unasked, whatever a config or a server says of the tool."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import toolspan
from tests.support.workspaces import answers_of
from toolspan_bridge.approvals import reason_to_ask
from toolspan_server.engines.sandbox._choice import choice
from toolspan_server.engines.upstreams import ListedTool

pytestmark = pytest.mark.requirement("I24.6.3")


def written(folder: Path, sandbox: str, **approvals: Any) -> str:
    tool = {
        "name": "list_files",
        "description": "Lists files.",
        "annotations": {"read_only": True, "destructive": False},
        "approval": False,
        "tags": ["sandbox:bubblewrap"],
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
        "implementation": {"type": "internal", "handler": "Bash", "options": {"workspace": "w"}},
    }
    config: dict[str, Any] = {
        "name": "c",
        "services": {"workspaces": {"w": {"path": ".", "bash": {"sandbox": sandbox}}}},
        "tools": {"registry": [tool]},
    }
    if approvals:
        config["approvals"] = approvals
    (folder / "c.yaml").write_text(yaml.safe_dump(config))
    return "c.yaml"


def runs(folder: Path, config: str, *options: str) -> bool:
    ran = toolspan(
        "tools", "call", "list_files", "command=touch ran", "--config", config, *options, cwd=folder
    )
    made = (folder / "ran").exists()
    assert made is (ran.code == 0)
    (folder / "ran").unlink(missing_ok=True)
    return made


def test_neither_annotations_nor_the_config_s_approval_let_a_command_run_unasked(tmp_path: Path) -> None:
    config = written(tmp_path, "off")
    assert not runs(tmp_path, config)
    assert not runs(tmp_path, config, "--approval", "destructive")
    assert not runs(tmp_path, config, "--approval", "rules")
    assert runs(tmp_path, config, "--approve", "list_files"), "a flag is a person's word"


@pytest.mark.skipif(
    sys.platform != "linux" or choice().confinement is None, reason="bubblewrap does not work here"
)
def test_in_a_sandbox_the_tool_is_what_its_config_says(tmp_path: Path) -> None:
    assert runs(tmp_path, written(tmp_path, "auto"))


def test_a_rule_of_a_config_that_was_named_is_a_person_s_word(tmp_path: Path) -> None:
    assert runs(tmp_path, written(tmp_path, "off", rules=[{"action": "allow", "tools": ["list_files"]}]))


def test_where_the_machine_has_no_sandbox_the_default_asks_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not runs(tmp_path, written(tmp_path, "auto"))


def test_another_client_is_asked_by_the_server_and_told_what_the_tool_does(tmp_path: Path) -> None:
    config = written(tmp_path, "off")
    call = {"name": "list_files", "arguments": {"command": "touch ran"}}
    called = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}
    listed = {"jsonrpc": "2.0", "id": 8, "method": "tools/list"}
    answers = answers_of(tmp_path, ["--config", config], called, listed)
    assert "approval_required" in str(answers[7]) and not (tmp_path / "ran").exists()
    hints = answers[8]["result"]["tools"][0]["annotations"]
    assert hints["readOnlyHint"] is False and hints["destructiveHint"] is True


@pytest.mark.parametrize("policy", ["always", "destructive", "rules"])
def test_a_tool_of_another_server_that_has_no_sandbox_is_asked_about(policy: Any) -> None:
    details = {"annotations": {"readOnlyHint": True}, "_meta": {"dev.toolspan/tags": ["sandbox:none"]}}
    tool = ListedTool("run", "", {"type": "object"}, details)
    assert tool.tags == ("sandbox:none",), "the tags are read"
    assert reason_to_ask(tool, policy)
