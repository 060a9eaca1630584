"""No tools, no config, failed sources, no keys: each verb says so and why, and fails where it needs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything

NEEDS_TOOLS = [
    ("tools", "list"),
    ("tools", "show", "x"),
    ("tools", "call", "x"),
    ("lint",),
    ("export", "--format", "openai"),
    ("lock",),
    ("validate",),
]
ONE = """\
name: shop
tools:
  registry:
    - {name: a, description: Give one, implementation: {type: mock, mock_response: "1"}}
"""


@pytest.fixture
def one(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(ONE)
    return tmp_path


@pytest.mark.requirement("I13.2.1")
@pytest.mark.parametrize("words", NEEDS_TOOLS, ids=" ".join)
def test_without_a_config_a_verb_that_needs_tools_says_where_it_looked_and_fails(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    ran = toolspan(*words, cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert f"no config file is in {tmp_path} (looked for toolspan.yaml" in ran.err
    assert "--config FILE" in ran.err and "toolspan init" in ran.err
    assert list(tmp_path.iterdir()) == [], "nothing is written or recorded"


@pytest.mark.requirement("I13.2.1")
def test_the_reason_is_an_error_for_programs_too(tmp_path: Path) -> None:
    ran = toolspan("tools", "list", "--json", cwd=tmp_path)
    assert (ran.code, ran.out, ran.error["code"]) == (2, "", "usage")


@pytest.mark.requirement("I13.2.1")
def test_verbs_that_work_without_tools_do_and_say_why_there_are_none(tmp_path: Path) -> None:
    asked = toolspan("ask", "hello", "--no-save", cwd=tmp_path)
    assert asked.code == 0 and asked.out
    assert "toolspan: there are no tools: no config file is in" in asked.err
    exported = toolspan("export", "--request", "hello", "-m", "openai/gpt-4o", cwd=tmp_path)
    assert exported.code == 0 and exported.out.startswith("{")
    assert "there are no tools" in exported.err


@pytest.mark.requirement("I13.2.1")
@pytest.mark.parametrize(
    ("config", "why"),
    [
        ("tools: {}\n", "has none (add some under tools.registry"),
        (ONE.replace("tools:", "tools:\n  enabled: false", 1), "tools.enabled is false"),
        ("mcpServers: {x: {command: x, disabled: true}}\n", "all servers of mcpServers are disabled"),
    ],
)
def test_a_config_without_tools_is_told_what_it_lacks(config: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(config)
    ran = toolspan("tools", "list", "--trust", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "toolspan.yaml" in ran.err and why in ran.err


@pytest.mark.requirement("I13.2.1")
def test_options_that_leave_no_tool_are_named(one: Path) -> None:
    ran = toolspan("lint", "--no-tool", "*", cwd=one)
    assert ran.code == 2
    assert "--no-tool left none of the 1 tools that the servers offer" in ran.err


@pytest.mark.requirement("I13.2.2")
def test_a_source_that_failed_is_said_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text("tools: {sources: [{type: openapi, file: none.yaml}]}\n")
    ran = toolspan("tools", "list", "--trust", cwd=tmp_path)
    assert (ran.code, ran.out) == (5, "")
    assert "the source openapi none.yaml failed: there is no such file" in ran.err
    assert "offers no tool" in ran.err


@pytest.mark.requirement("I13.2.40")
@pytest.mark.parametrize("words", [*NEEDS_TOOLS[:1], ("ask", "hello", "--no-save")], ids=" ".join)
def test_a_description_whose_operations_are_all_left_out_is_said_with_the_reasons(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    paths = {f"/{number}": {"get": {"security": [{"pin": []}]}} for number in range(7)}
    described = {"openapi": "3.1.0", "info": {}, "servers": [{"url": "https://a.example"}], "paths": paths}
    (tmp_path / "shop.json").write_text(json.dumps(described))
    (tmp_path / "toolspan.yaml").write_text("tools: {sources: [{type: openapi, file: shop.json}]}\n")
    ran = toolspan(*words, "--trust", cwd=tmp_path)
    assert ran.code == (5 if words == ("tools", "list") else 0)
    assert "the source openapi shop.json has no tool, all of its operations are left out" in ran.err
    assert "GET /0: it needs credentials for one of: pin" in ran.err and "; and 2 more" in ran.err


@pytest.mark.requirement("I13.2.1")
def test_check_and_install_without_a_config_say_what_the_others_say(tmp_path: Path) -> None:
    for words in (("check",), ("install", "cursor", "--print")):
        ran = toolspan(*words, cwd=tmp_path)
        assert (ran.code, ran.out) == (2, "") and f"no config file is in {tmp_path}" in ran.err
        assert "--config FILE" in ran.err and "`toolspan init`" in ran.err


@pytest.mark.requirement("I13.2.2")
def test_tools_beside_a_source_that_failed_are_listed_and_the_reason_is_said(one: Path) -> None:
    path = one / "toolspan.yaml"
    path.write_text(f"{path.read_text()}  sources: [{{type: openapi, file: none.yaml}}]\n")
    ran = toolspan("tools", "list", "--json", "--trust", cwd=one)
    assert (ran.code, [tool["name"] for tool in ran.json["tools"]]) == (0, ["a"])
    assert "the source openapi none.yaml failed: there is no such file" in ran.err


@pytest.mark.requirement("I13.2.1")
def test_a_report_of_a_model_that_was_not_tried_fails(one: Path) -> None:
    for words in (("report",), ("report", "--json"), ("report", "-m", "openai/none")):
        ran = toolspan(*words, cwd=one)
        assert (ran.code, ran.out) == (2, "") and "no trials" in ran.err, words


@pytest.mark.requirement("I13.2.3", "I14.1.5")
def test_a_suite_that_names_unknown_tools_is_neither_run_nor_recorded(one: Path) -> None:
    (one / "suite.yaml").write_text(
        "name: mine\nscenarios: [{query: q, expect: {calls: [{tool: b}], never: [c]}}]\n"
    )
    ran = toolspan("validate", "--suite", "suite.yaml", cwd=one)
    assert (ran.code, ran.out) == (2, "")
    assert "suite.yaml:2:48: $.scenarios[0].expect.calls[0].tool: no server offers the tool 'b'" in ran.err
    assert "suite.yaml:2:61: $.scenarios[0].expect.never[0]: no server offers the tool 'c'" in ran.err
    assert "so nothing was run or recorded (known: a)" in ran.err
    assert not (one / ".toolspan" / "validation.sqlite3").exists()


@pytest.mark.requirement("I13.2.4")
def test_models_without_keys_are_told_in_a_few_lines(tmp_path: Path) -> None:
    away = {"VLLM_BASE_URL": "http://127.0.0.1:1"}
    ran = toolspan("models", cwd=tmp_path, **away)
    assert ran.code == 0 and "offline/keyword" in ran.out
    lines = ran.err.splitlines()
    assert len(lines) <= 5, ran.err
    (keys,) = [line for line in lines if "without a key or setting:" in line]
    assert "anthropic (ANTHROPIC_API_KEY); " in keys
    assert "bedrock, bedrock-anthropic, bedrock-mantle (AWS_REGION)" in keys
    assert "toolspan: vllm: cannot be reached at http://127.0.0.1:1" in ran.err, "its address was set"
    assert "`toolspan models --provider NAME`" in lines[-1]
    named = toolspan("models", "--provider", "groq", cwd=tmp_path)
    assert named.code == 3 and "set GROQ_API_KEY to your key (keys: https://" in named.err


@pytest.mark.requirement("I13.2.5")
def test_an_error_without_a_kind_is_told_without_a_stray_space(tmp_path: Path) -> None:
    with FakeProvider(anything, [Sent({"oops": 1}, status=400)]) as fake:
        held = {"OPENAI_API_KEY": "sk-secret-0123", "OPENAI_BASE_URL": f"{fake.url}/v1"}
        ran = toolspan("ask", "hi", "-m", "openai-chat/gpt-4o", "--no-save", cwd=tmp_path, **held)
    assert ran.code == 1
    assert "answered 400: " in ran.err and " :" not in ran.err


@pytest.mark.requirement("I13.2.6")
def test_a_tool_is_called_and_shown_by_its_own_name_and_its_name_on_the_wire(one: Path) -> None:
    (wire,) = toolspan("tools", "list", "--names", "openai", "--json", cwd=one).json["names"]
    for name in ("a", "shop/a", wire["wire"]):
        ran = toolspan("tools", "call", name, cwd=one)
        assert (ran.code, ran.out) == (0, "1\n"), name
        assert toolspan("tools", "show", name, cwd=one).code == 0
    assert "Tool 'b' not found (known: a)" in toolspan("tools", "call", "b", cwd=one).err
