from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import toolspan
from tests.support.mcp_peers import raw
from toolspan_bridge.errors import UsageError
from toolspan_bridge.toolbox import servers_of
from toolspan_bridge.toolbox._variables import expand
from toolspan_bridge.toolbox.servers import NAMES_PRINCIPALS
from toolspan_server.config import Config, load_config
from toolspan_server.engines.upstreams import ServerSpec

pytestmark = pytest.mark.requirement("I2.6.1")

TOOLS = {
    "registry": [
        {
            "name": "t",
            "description": "d",
            "implementation": {"type": "mock", "mock_response": 1},
            "timeout_ms": 60_000,
        }
    ]
}


def config(folder: Path, **content: Any) -> Config:
    path = folder / "toolspan.json"
    path.write_text(json.dumps({"version": 1, **content}))
    return load_config(path)


def mcp_json(folder: Path, content: Any) -> list[ServerSpec]:
    (folder / ".mcp.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return servers_of(directory=folder)


def one(folder: Path, **entry: Any) -> ServerSpec:
    (spec,) = mcp_json(folder, {"mcpServers": {"s": entry}})
    return spec


def test_without_mcp_servers_the_config_s_own_tools_are_served_by_a_subprocess(tmp_path: Path) -> None:
    (own,) = servers_of(config(tmp_path, name="mine", tools=TOOLS), directory=tmp_path)
    assert own.name == "mine" and own.kind == "stdio" and own.inherit_env
    assert own.command[1:] == (
        "-P",
        "-m",
        "toolspan_server",
        *NAMES_PRINCIPALS,
        "--config",
        str(tmp_path / "toolspan.json"),
    )


def test_skip_invalid_is_handed_on_to_the_own_server(tmp_path: Path) -> None:
    (own,) = servers_of(config(tmp_path, tools=TOOLS), skip_invalid=True, directory=tmp_path)
    assert own.command[-1] == "--skip-invalid"


def test_a_config_with_own_tools_and_mcp_servers_connects_both(tmp_path: Path) -> None:
    both = config(tmp_path, name="mine", tools=TOOLS, mcpServers={"files": {"command": "npx"}})
    assert [spec.name for spec in servers_of(both, directory=tmp_path)] == ["files", "mine"]


def test_own_tools_make_way_for_a_server_of_the_same_name(tmp_path: Path) -> None:
    both = config(tmp_path, name="mine", tools=TOOLS, mcpServers={"mine": {"command": "npx"}})
    assert [spec.name for spec in servers_of(both, directory=tmp_path)] == ["mine", "mine-own"]


def test_own_tools_that_are_switched_off_are_not_served(tmp_path: Path) -> None:
    assert servers_of(config(tmp_path, tools={**TOOLS, "enabled": False}), directory=tmp_path) == []


def test_mcp_json_counts_only_where_the_config_has_no_servers(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": {"command": "npx"}}}))
    without = config(tmp_path, name="mine", tools=TOOLS)
    assert [spec.name for spec in servers_of(without, directory=tmp_path)] == ["mine", "theirs"]
    with_servers = config(tmp_path, mcpServers={"ours": {"command": "npx"}})
    assert [spec.name for spec in servers_of(with_servers, directory=tmp_path)] == ["ours"]


def test_the_own_server_may_take_as_long_as_its_slowest_tool(tmp_path: Path) -> None:
    (own,) = servers_of(config(tmp_path, tools=TOOLS), directory=tmp_path)
    assert own.call_timeout > 60


@pytest.mark.parametrize("key", ["mcpServers", "servers"])
def test_servers_are_read_as_other_clients_write_them(tmp_path: Path, key: str) -> None:
    entry = {"command": "uvx", "args": ["some-server"], "env": {"A": "1"}, "alwaysAllow": ["x"], "icon": 3}
    (spec,) = mcp_json(tmp_path, {key: {"s": entry}, "inputs": []})
    assert (spec.command, dict(spec.env), spec.problem) == (("uvx", "some-server"), {"A": "1"}, "")


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"command": "x"}, "stdio"),
        ({"type": "stdio", "command": "x"}, "stdio"),
        ({"url": "http://h/mcp"}, "http"),
        ({"type": "http", "url": "http://h/sse"}, "http"),
        ({"type": "streamable-http", "url": "http://h"}, "http"),
        ({"type": "streamableHttp", "serverUrl": "http://h"}, "http"),
        ({"type": "sse", "url": "http://h/events"}, "sse"),
        ({"url": "http://h/sse?k=1"}, "sse"),
    ],
)
def test_the_transport_is_named_or_told_by_what_is_given(tmp_path: Path, entry: Any, kind: str) -> None:
    spec = one(tmp_path, **entry)
    assert (spec.kind, spec.problem) == (kind, "")


def test_a_disabled_server_is_left_out(tmp_path: Path) -> None:
    assert mcp_json(tmp_path, {"mcpServers": {"s": {"command": "x", "disabled": True}}}) == []


def test_variables_are_filled_in_and_their_values_are_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", "hunter2hunter2")
    entry = {"command": "run", "args": ["--key=${THE_KEY}", "${env:THE_KEY}", "${NOT_THERE:-plain}"]}
    spec = one(tmp_path, **entry)
    assert spec.command == ("run", "--key=hunter2hunter2", "hunter2hunter2", "plain")
    assert spec.redact("it says hunter2hunter2") == "it says ***"


def test_the_values_of_env_and_headers_are_never_shown(tmp_path: Path) -> None:
    spec = one(tmp_path, url="http://h", headers={"Authorization": "Bearer abcdef"}, env={"K": "ghijkl"})
    assert spec.redact("Bearer abcdef, abcdef, ghijkl") == "***, ***, ***"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"command": "x", "args": ["${NOT_SET_ANYWHERE}"]}, "NOT_SET_ANYWHERE is not set"),
        ({"command": "x", "args": ["${input:token}"]}, "${input:token} cannot be filled in"),
        ({"command": "x", "args": ["${A_NAME:-${OTHER:-b}}"]}, "${A_NAME:-${OTHER:-b} cannot be filled in"),
        ({}, "$.mcpServers.s: neither a command nor a url"),
        ({"type": "stdio", "url": "http://h"}, "$.mcpServers.s: type 'stdio' needs a command"),
        ({"url": "file:///etc"}, "$.mcpServers.s.url: is not an http or https URL"),
        ({"url": "http://h", "headers": {"X": "a\nb"}}, "$.mcpServers.s.headers.X: the value holds"),
        ({"command": 5}, "$.mcpServers.s.command: "),
        ({"command": "x", "env": {"LD_PRELOAD": "evil.so"}}, "$.mcpServers.s.env.LD_PRELOAD: "),
        ({"command": "x", "env": {"NODE_OPTIONS": "--require evil"}}, "NODE_OPTIONS"),
        ({"command": "x", "env": {"GIT_SSH_COMMAND": "evil"}}, "GIT_SSH_COMMAND"),
        ({"command": "x", "env": {"BASH_ENV": "evil"}}, "BASH_ENV"),
        ({"command": "x", "env": {"PYTHONSTARTUP": "evil.py"}}, "PYTHONSTARTUP"),
        ({"command": "x", "env": {"DYLD_INSERT_LIBRARIES": "evil"}}, "DYLD_INSERT_LIBRARIES"),
    ],
)
def test_an_entry_that_cannot_work_says_where_and_why(tmp_path: Path, entry: Any, said: str) -> None:
    spec = one(tmp_path, **entry)
    assert said in spec.problem and str(tmp_path / ".mcp.json") in spec.problem


def test_dangerous_variables_are_let_through_when_that_is_asked_for(tmp_path: Path) -> None:
    assert one(tmp_path, command="x", env={"LD_PRELOAD": "a.so"}, allowDangerousEnv=True).problem == ""


@pytest.mark.parametrize("content", ["{", "[]", '{"mcpServers": []}', '{"servers": 5}'])
def test_a_file_that_is_no_server_list_is_named(tmp_path: Path, content: str) -> None:
    with pytest.raises(UsageError, match=r"\.mcp\.json: .*"):
        mcp_json(tmp_path, content)


def test_a_config_made_in_code_cannot_be_served_and_says_so() -> None:
    made = Config.model_validate({"tools": TOOLS})
    (own,) = servers_of(made, directory=Path("/nonexistent"))
    assert "save it" in own.problem


def test_expansion_reaches_every_string_and_leaves_the_rest() -> None:
    found = expand({"a": ["${X}", 5, None], "b": {"c": "$X ${X}${X}"}}, {"X": "1"})
    assert found.value == {"a": ["1", 5, None], "b": {"c": "$X 11"}}
    assert found.values == {"1"}


def test_two_dollars_are_no_escape_there_and_other_braces_stay() -> None:
    found = expand(["$${X}", "${1} ${", "${EMPTY:-a}"], {"X": "1", "EMPTY": ""})
    assert (found.value, found.problem) == (["$1", "${1} ${", ""], "")


def test_how_long_servers_may_take_to_start_is_set_by_the_config(tmp_path: Path) -> None:
    limits = {"connect_seconds": 0.3}
    silent = raw("silent").command
    path = config(
        tmp_path, limits=limits, mcpServers={"quiet": {"command": silent[0], "args": silent[1:]}}
    ).files[0]
    ran = toolspan("tools", "list", "--config", str(path), cwd=tmp_path)
    assert ran.code == 4
    assert "server 'quiet': no answer within 0.3 s (limits.connect_seconds allows more)" in ran.err


@pytest.mark.parametrize(("limits", "seconds"), [({}, 60), ({"upstream_connect_seconds": 90}, 140)])
def test_the_own_server_is_waited_for_longer_than_it_waits_for_its_sources(
    limits: dict[str, Any], seconds: float, tmp_path: Path
) -> None:
    both = config(tmp_path, name="own", tools=TOOLS, limits=limits, mcpServers={"files": {"command": "npx"}})
    waits = {spec.name: spec.connect_timeout for spec in servers_of(both)}
    assert waits == {"files": 10, "own": seconds}
    longest = config(tmp_path, tools=TOOLS, limits={"connect_seconds": 600})
    assert [spec.connect_timeout for spec in servers_of(longest)] == [600]
