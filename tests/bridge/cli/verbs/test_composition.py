"""Servers and tools chosen on the command line, without a config."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import tests.support.mcp_peers as peers
from tests.support.cli import toolspan

RAW = f"{sys.executable} {Path(peers.__file__).parent / 'mcp_servers' / 'raw.py'}"
CONFIG = """
tools:
  registry:
    - {name: look, description: Looks., implementation: {type: mock, mock_response: seen}}
    - {name: listen, description: Listens., implementation: {type: mock, mock_response: heard}}
"""


def script(folder: Path, *calls: str) -> tuple[str, str]:
    turn: dict[str, Any] = {"calls": [{"tool": name, "arguments": {"n": 1}} for name in calls]}
    (folder / "turns.yaml").write_text(json.dumps({"turns": [turn, {"text": "done"}]}))
    (folder / "tools.yaml").write_text(CONFIG)
    return "-m", "scripted/turns.yaml"


@pytest.mark.requirement("I12.5.45")
def test_two_servers_of_one_name_are_used_without_a_config(tmp_path: Path) -> None:
    model = script(tmp_path, "raw__echo", "raw-2__echo", "look")
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    ran = toolspan("ask", "Hi", *model, "--server", RAW, "--server", RAW, "--json", cwd=tmp_path)
    results = [use["result"] for use in ran.json["tool_calls"]]
    assert [result.get("error_code") for result in results] == [None, None, "tool_not_found"]


@pytest.mark.requirement("I12.5.45")
def test_a_server_is_added_to_a_named_config_in_a_chat(tmp_path: Path) -> None:
    model = script(tmp_path, "raw__echo", "look")
    options = ("--server", RAW, "-c", "tools.yaml", "--json")
    ran = toolspan("chat", *model, *options, cwd=tmp_path, stdin="Hi\n")
    assert [use["result"]["success"] for use in json.loads(ran.out)["tool_calls"]] == [True, True]


@pytest.mark.requirement("I12.5.46")
@pytest.mark.parametrize(
    ("options", "left"),
    [
        (("--tool", "l*"), ["look", "listen"]),
        (("--tool", "look"), ["look"]),
        (("--no-tool", "*/look"), ["listen"]),
        (("--tool", "l*", "--no-tool", "listen"), ["look"]),
    ],
)
def test_globs_choose_among_the_tools(tmp_path: Path, options: tuple[str, ...], left: list[str]) -> None:
    model = script(tmp_path, "look", "listen")
    ran = toolspan("ask", "Hi", *model, "-c", "tools.yaml", *options, "--json", cwd=tmp_path)
    uses = ran.json["tool_calls"]
    assert [use["tool"] for use in uses if use["result"]["success"]] == left
    shown = toolspan("export", "-f", "openai", "-c", "tools.yaml", *options, cwd=tmp_path).json
    assert sorted(left) == sorted(tool["function"]["name"].split("__")[-1] for tool in shown)
    linted = toolspan("lint", "-c", "tools.yaml", "-f", "openai", *options, cwd=tmp_path)
    assert f"sent of {len(left)}" in linted.out


@pytest.mark.requirement("I12.5.46")
@pytest.mark.parametrize("option", ["--tool", "--no-tool"])
def test_a_glob_of_no_tool_is_said(tmp_path: Path, option: str) -> None:
    model = script(tmp_path, "look")
    ran = toolspan("ask", "Hi", *model, "-c", "tools.yaml", option, "lock", cwd=tmp_path)
    assert f"{option} lock is the name of no tool (there are: toolspan/listen, toolspan/look)" in ran.err
