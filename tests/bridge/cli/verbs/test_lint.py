"""``toolspan lint`` and ``toolspan tools list --names`` over a real MCP server of any make."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Ran, toolspan
from toolspan_bridge.errors import UsageError
from toolspan_bridge.findings import SEVERITIES, lint
from toolspan_bridge.formats import format_names
from toolspan_bridge.formats.shared.loss_rules import RULES
from toolspan_bridge.messages import ToolSpec
from toolspan_bridge.sessions.chosen.target import server_of

SERVER = Path(__file__).parents[3] / "support" / "mcp_servers" / "listing.py"
LONG = "x" * 60
TOOLS: list[dict[str, Any]] = [
    {"name": "plain", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}},
    {
        "name": "worded",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}},
    },
    {
        "name": "closed",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
    },
]
BROKEN = {
    "name": "broken",
    "inputSchema": {"type": "object", "properties": {"a": {"$ref": "http://x.example/"}}},
}


@pytest.fixture
def served(tmp_path: Path) -> Any:
    def server(*tools: dict[str, Any]) -> str:
        path = tmp_path / "tools.json"
        path.write_text(json.dumps(tools))
        return shlex.join([sys.executable, str(SERVER), str(path)])

    return server


def linted(command: str, folder: Path, *options: str) -> Ran:
    return toolspan("lint", "--server", command, *options, cwd=folder)


@pytest.mark.requirement("I5.2.3")
def test_each_loss_is_told_with_its_place_rule_severity_and_fix(served: Any, tmp_path: Path) -> None:
    ran = linted(served(*TOOLS), tmp_path, "--format", "gemini", "--json")
    assert ran.code == 0
    assert ran.json["ok"] is True and ran.json["tools"] == 3
    (finding,) = ran.json["findings"]
    assert finding == {
        "formats": ["gemini"],
        "server": "listing",
        "name": "worded",
        "tool": "listing__worded",
        "pointer": "/properties/a/maxLength",
        "rule": "keyword",
        "repair": "described: At most 3 characters.",
        "severity": "info",
        "fix": "say in the description what maxLength means, in words of your own",
    }
    assert ran.json["summary"] == {"gemini": {"sent": 3, "error": 0, "warning": 0, "info": 1}}


@pytest.mark.requirement("I5.2.3")
@pytest.mark.parametrize(
    ("tools", "worst"),
    [(TOOLS[:1], None), (TOOLS[:2], "info"), (TOOLS, "warning"), ([*TOOLS, BROKEN], "error")],
)
def test_lint_fails_from_the_severity_on_that_was_named(tools: list[Any], worst: Any) -> None:
    specs = [ToolSpec("s", tool["name"], "", tool["inputSchema"]) for tool in tools]
    found = lint(specs, ["ollama"])
    for place, threshold in enumerate(SEVERITIES):
        assert found.fails(threshold) == (worst is not None and SEVERITIES.index(worst) <= place)


@pytest.mark.requirement("I5.2.3")
def test_the_exit_code_is_7_where_lint_fails(served: Any, tmp_path: Path) -> None:
    command = served(*TOOLS)
    assert linted(command, tmp_path, "--fail-on", "warning", "--format", "ollama").code == 7
    assert linted(command, tmp_path, "--fail-on", "warning", "--format", "gemini").code == 0


@pytest.mark.requirement("I5.2.3")
def test_all_formats_are_told_of_together_and_counted_one_by_one(served: Any, tmp_path: Path) -> None:
    ran = linted(served(*TOOLS, BROKEN), tmp_path)
    assert ran.code == 7
    assert "error: listing__broken /properties/a/$ref: external-ref (every format)\n" in ran.out
    assert "    sent: tool left out: 'http://x.example/' is outside of the schema\n" in ran.out
    assert f"    fix: {RULES['external-ref'].fix}\n" in ran.out
    rows = {line.split()[0]: line.split()[1:] for line in ran.out.splitlines() if line.strip()}
    assert rows["openai"] == ["3", "1", "0", "0"]
    assert rows["ollama"] == ["3", "1", "1", "1"]
    assert rows.keys() >= set(format_names())


@pytest.mark.requirement("I5.2.3", "I5.2.1")
def test_lint_can_ask_which_tools_could_be_strict(served: Any, tmp_path: Path) -> None:
    free = {"name": "free", "inputSchema": {"type": "object", "properties": {"a": {"type": "object"}}}}
    ran = linted(served(TOOLS[0], free), tmp_path, "-f", "openai", "--strict", "--json")
    refused = [finding for finding in ran.json["findings"] if finding["rule"] == "not-strict"]
    assert [(finding["name"], finding["pointer"]) for finding in refused] == [("free", "/properties/a")]


MANY = [
    *({"name": f"t{n:03}", "inputSchema": {"type": "object"}} for n in range(129)),
    {"name": "z", "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "x-order": 1}}}},
]


@pytest.mark.requirement("I11.3.3")
def test_tools_beyond_a_provider_s_limit_are_no_loss_and_their_own_losses_are_told(
    served: Any, tmp_path: Path
) -> None:
    command = served(*MANY)
    told = linted(command, tmp_path, "--json").json
    assert told["searched"] == {"openai": 128, "openai-responses": 128}
    assert told["summary"]["openai"] == {"sent": 130, "error": 0, "warning": 0, "info": 1}
    assert [(finding["name"], finding["rule"]) for finding in told["findings"]] == [("z", "extension")]
    shown = linted(command, tmp_path)
    assert shown.code == 0
    assert "openai, openai-responses: more tools than are sent at once (128): a model finds" in " ".join(
        shown.err.split()
    )
    names = toolspan("tools", "list", "--names", "openai", "--server", command, "--json", cwd=tmp_path).json
    assert {entry["left_out"] for entry in names["names"]} == {None}


@pytest.mark.requirement("I11.3.3")
def test_the_limit_of_the_config_holds_for_lint_too(tmp_path: Path) -> None:
    mock = {"type": "mock", "mock_response": {}}
    tools = [{"name": name, "description": name, "implementation": mock} for name in ("first", "second")]
    config = {"limits": {"tools_offered": 1}, "tools": {"registry": tools}}
    (tmp_path / "toolspan.json").write_text(json.dumps(config))
    ran = toolspan("lint", "--format", "ollama", "--json", cwd=tmp_path)
    assert (ran.code, ran.json["searched"], ran.json["summary"]["ollama"]["sent"]) == (0, {"ollama": 1}, 2)


@pytest.mark.requirement("I5.2.3")
def test_no_tools_and_no_server_are_told_apart(served: Any, tmp_path: Path) -> None:
    empty = linted(served(), tmp_path)
    assert empty.code == 5 and "offers no tool" in empty.err
    assert linted("no-such-program-here", tmp_path).code == 4
    assert linted("'unbalanced", tmp_path, "--json").error["code"] == "usage"


@pytest.mark.requirement("I5.2.3")
@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("npx -y @modelcontextprotocol/server-everything@1.2 stdio", "server-everything", "stdio"),
        ("uvx mcp-server-git --repository .", "mcp-server-git", "stdio"),
        ("python3 tools/my_server.py", "my_server", "stdio"),
        ("node", "node", "stdio"),
        ("https://mcp.example.com/mcp", "mcp.example.com", "http"),
        ("http://127.0.0.1:8000/sse/", "127.0.0.1", "sse"),
    ],
)
def test_a_server_on_the_command_line_is_named_after_what_it_is(text: str, name: str, kind: str) -> None:
    spec = server_of(text)
    assert (spec.name, spec.kind) == (name, kind)
    assert spec.url == (text if kind != "stdio" else "")


def test_no_command_is_no_server() -> None:
    with pytest.raises(UsageError, match="write a command"):
        server_of("  ")


@pytest.mark.requirement("I5.2.2")
def test_the_table_of_names_says_what_each_tool_is_called_on_the_wire(served: Any, tmp_path: Path) -> None:
    odd = {"name": f"get.{LONG}", "inputSchema": {"type": "object"}}
    command = served(TOOLS[0], odd, BROKEN)
    ran = toolspan("tools", "list", "--names", "openai", "--server", command, "--json", cwd=tmp_path)
    names = {entry["tool"]: entry for entry in ran.json["names"]}
    assert ran.json["format"] == "openai"
    assert (names["plain"]["wire"], names["plain"]["server"]) == ("listing__plain", "listing")
    assert names["plain"]["left_out"] is None
    assert names["broken"]["left_out"] == "external-ref"
    assert len(names[f"get.{LONG}"]["wire"]) == 64
    shown = toolspan("tools", "list", "--names", "openai", "--server", command, cwd=tmp_path).out
    assert "listing__plain" in shown and "left out: external-ref" in shown
