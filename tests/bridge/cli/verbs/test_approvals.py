"""Approvals on the command line without a terminal: flags, the config's policy and rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import Ran, toolspan

pytestmark = pytest.mark.long

TOOLS = """
name: own
tools:
  registry:
    - name: look
      description: Looks.
      parameters: {type: object, properties: {place: {type: string}}}
      implementation: {type: builtin, handler: echo}
    - name: remove
      description: Removes.
      annotations: {destructive: true}
      parameters: {type: object, properties: {place: {type: string}}, required: [place]}
      implementation: {type: builtin, handler: echo}
    - name: guarded
      description: Asks each time.
      approval: true
      parameters: {type: object}
      implementation: {type: builtin, handler: echo}
    - name: indirect
      description: Calls another tool.
      annotations: {destructive: true}
      parameters: {type: object}
      implementation: {type: pipeline, steps: [{id: inner, tool: guarded, arguments: {}}]}
"""


def folder(path: Path, **approvals: Any) -> Path:
    extra = yaml.safe_dump({"approvals": approvals}) if approvals else ""
    (path / "mine.yaml").write_text(TOOLS + extra)
    return path


def call(path: Path, *words: str) -> Ran:
    return toolspan("tools", "call", *words, "--config", "mine.yaml", "--json", cwd=path)


@pytest.mark.requirement("I12.1.2")
def test_without_a_terminal_a_destructive_tool_named_by_hand_is_denied_and_the_flag_is_named(
    tmp_path: Path,
) -> None:
    ran = call(folder(tmp_path), "remove", "place=x")
    assert (ran.code, ran.json["error_code"]) == (5, "denied")
    assert ran.json["error"].startswith("Tool execution denied by user: ")
    assert "--approve" in ran.json["error"] and "nobody to ask" in ran.json["error"]


@pytest.mark.requirement("I12.1.2")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["look"], 0),
        (["look", "--approval", "always"], 5),
        (["look", "--approval", "always", "--approve", "look"], 0),
        (["remove", "place=x", "--approve", "remove"], 0),
        (["remove", "place=x", "--approve", "look", "--approve", "own/re*"], 0),
        (["remove", "place=x", "--approve", "other/*"], 5),
        (["remove", "place=x", "--approval", "never"], 0),
        (["remove", "place=x", "--approval", "rules"], 5),
    ],
    ids=str,
)
def test_policy_and_patterns_of_the_command_line(words: list[str], code: int, tmp_path: Path) -> None:
    assert call(folder(tmp_path), *words).code == code


@pytest.mark.requirement("I12.1.4")
@pytest.mark.parametrize(
    ("words", "code"),
    [([], 5), (["--approve", "guarded"], 0), (["--approval", "never"], 0), (["--approval", "always"], 5)],
)
def test_a_tool_with_approval_runs_once_the_call_was_allowed(
    words: list[str], code: int, tmp_path: Path
) -> None:
    ran = call(folder(tmp_path), "guarded", *words)
    assert (ran.code, ran.json["success"]) == (code, code == 0)


@pytest.mark.requirement("I12.1.4")
def test_a_call_that_was_allowed_allows_no_other_tool_that_it_calls(tmp_path: Path) -> None:
    ran = call(folder(tmp_path), "indirect", "--approve", "indirect")
    assert ran.code == 5 and ran.json["error_code"] == "denied", ran.json


@pytest.mark.requirement("I12.1.2")
@pytest.mark.requirement("I12.1.4")
def test_ask_and_chat_take_the_same_flags(tmp_path: Path) -> None:
    turns = [
        {"calls": [{"tool": "remove", "arguments": {"place": "x"}}, {"tool": "guarded", "arguments": {}}]},
        {"text": "done"},
    ]
    (tmp_path / "turns.yaml").write_text(yaml.safe_dump({"turns": turns}))
    common = ("--config", "mine.yaml", "-m", "scripted/turns.yaml", "--json")

    def successes(*words: str, stdin: str = "") -> list[bool]:
        ran = toolspan(*words, *common, cwd=folder(tmp_path), stdin=stdin)
        return [use["result"]["success"] for use in ran.json["tool_calls"]]

    assert successes("ask", "?") == [False, False]
    assert successes("ask", "?", "--approve", "guarded") == [False, True]
    assert successes("ask", "?", "--approval", "never") == [True, True]
    assert successes("chat", stdin="?\n") == [False, False]
    assert successes("chat", "--approve", "*", stdin="?\n") == [True, True]


@pytest.mark.requirement("I12.1.3")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["remove", "place=safe/a"], 0),
        (["remove", "place=safe/secret"], 5),
        (["remove", "place=x"], 5),
        (["look", "place=x"], 5),
        (["look", "place=y"], 0),
        (["remove", "place=safe/secret", "--approval", "never"], 5),
        (["remove", "place=safe/secret", "--approve", "*"], 5),
        (["remove", "place=safe/a", "--approval", "destructive"], 5),
    ],
    ids=str,
)
def test_the_first_rule_that_applies_counts_and_one_that_denies_always(
    words: list[str], code: int, tmp_path: Path
) -> None:
    rules = [
        {"action": "deny", "arguments": {"place": "re:secret"}, "reason": "leave secrets alone"},
        {"action": "allow", "tools": ["remove"], "arguments": {"place": "safe/*"}},
        {"action": "ask", "tools": ["look"], "arguments": {"place": "x"}},
    ]
    ran = call(folder(tmp_path, rules=rules), *words)
    assert ran.code == code
    if "place=safe/secret" in words:
        assert ran.json["error"] == "Tool execution denied by user: leave secrets alone"


@pytest.mark.requirement("I12.1.3")
def test_the_policy_of_the_command_line_wins_over_that_of_the_config(tmp_path: Path) -> None:
    assert call(folder(tmp_path, policy="never"), "remove", "place=x").code == 0
    assert call(folder(tmp_path, policy="never"), "remove", "place=x", "--approval", "always").code == 5


@pytest.mark.requirement("I12.1.3")
@pytest.mark.parametrize(
    "approvals",
    [{"policy": "never"}, {"rules": [{"action": "allow", "tools": ["remove"]}]}],
)
def test_a_config_that_was_found_loosens_nothing_without_consent(
    approvals: dict[str, Any], tmp_path: Path
) -> None:
    folder(tmp_path, **approvals)
    (tmp_path / "mine.yaml").rename(tmp_path / "toolspan.yaml")
    ran = toolspan("tools", "call", "remove", "place=x", cwd=tmp_path)
    assert ran.code == 5 and "$.approvals" in ran.err and "--trust" in ran.err
    assert toolspan("tools", "call", "remove", "place=x", "--trust", cwd=tmp_path).code == 0


@pytest.mark.requirement("I12.1.3")
@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ({"action": "allow"}, "no condition"),
        ({"action": "allow", "arguments": {"a": "re:("}}, "not an RE2 pattern"),
        ({"action": "perhaps", "tools": ["*"]}, "action"),
    ],
)
def test_a_wrong_rule_is_an_error_of_the_config(rule: dict[str, Any], fault: str, tmp_path: Path) -> None:
    ran = toolspan("tools", "list", "--config", "mine.yaml", cwd=folder(tmp_path, rules=[rule]))
    assert ran.code == 2 and fault in ran.err
