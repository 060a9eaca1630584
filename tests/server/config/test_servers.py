"""``mcpServers``, as other clients write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.configs import load, told
from toolspan_server.config import McpServerConfig

pytestmark = pytest.mark.requirement("I4.4.1")


def server(folder: Path, entry: dict[str, Any]) -> McpServerConfig:
    return load(folder, json.dumps({"mcpServers": {"it": entry}}), name="a.json").mcp_servers["it"]


@pytest.mark.parametrize("key", ["mcpServers", "mcp_servers", "servers"])
def test_servers_are_read_under_every_common_key(tmp_path: Path, key: str) -> None:
    config = load(tmp_path, f"{key}: {{a: {{command: run, args: [x], env: {{K: v}}}}}}")
    assert config.mcp_servers["a"].command == "run"
    assert (config.mcp_servers["a"].args, config.mcp_servers["a"].env) == (("x",), {"K": "v"})


def test_two_spellings_of_the_servers_are_refused(tmp_path: Path) -> None:
    (line,) = told(tmp_path, "mcpServers: {}\nservers: {}")
    assert line == "config.yaml:2:1: $.servers: 'servers' and 'mcpServers' mean the same (keep one of them)"


@pytest.mark.parametrize("key", ["url", "serverUrl", "server_url", "httpUrl", "http_url"])
def test_a_url_is_read_under_every_common_key(tmp_path: Path, key: str) -> None:
    assert server(tmp_path, {key: "https://example.com/mcp"}).url == "https://example.com/mcp"


def test_other_clients_keys_are_ignored(tmp_path: Path) -> None:
    entry = {
        "command": "run",
        "autoApprove": ["x"],
        "timeout": 3,
        "envFile": ".env",
        "dev": {},
        "disabled": True,
    }
    assert server(tmp_path, entry).disabled is True


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "neither a command nor a url (add one of them)"),
        ({"command": "a", "url": "http://b"}, "both a command and a url (keep one of them)"),
        ({"type": "stdio", "url": "http://b"}, "type 'stdio' needs a command"),
        ({"type": "sse", "command": "b"}, "type 'sse' needs a url"),
        ({"command": ""}, ".command: must not be empty"),
        ({"command": "a\0b"}, ".command: must not hold a NUL character"),
        ({"command": "a", "args": ["x\0"]}, ".args[0]: must not hold a NUL character"),
        ({"command": "a", "env": {"PORT": 80}}, ".env.PORT: must be a string, not 80 (put it in quotes)"),
        ({"command": "a", "env": {"A=B": "c"}}, "cannot be an environment variable"),
        ({"url": "ftp://example.com"}, ".url: is not an http or https URL"),
        ({"url": "file:///etc/passwd"}, ".url: is not an http or https URL"),
        ({"url": "http://"}, ".url: is not an http or https URL"),
        ({"url": "http://a b"}, ".url: is not an http or https URL"),
        ({"url": "http://a:99999"}, ".url: is not an http or https URL"),
        ({"url": "http://[::1"}, ".url: is not an http or https URL"),
        ({"url": "example.com/mcp"}, ".url: is not an http or https URL"),
        ({"url": "http://a", "headers": {"A B": "c"}}, "'A B' cannot be a header"),
        (
            {"url": "http://a", "headers": {"A": "x\r\nB: y"}},
            ".headers.A: the value holds a control character",
        ),
        ({"command": "a", "env": {"LD_PRELOAD": "x"}}, "LD_PRELOAD changes which code the server runs"),
        ({"command": "a", "env": {"Node_Options": "x"}}, "Node_Options changes which code the server runs"),
        ({"command": "a", "env": {"BASH_ENV": "x"}}, "set allowDangerousEnv: true"),
        ("run", "must be an object, not 'run'"),
    ],
)
def test_an_entry_that_cannot_work_is_refused(tmp_path: Path, entry: Any, said: str) -> None:
    (line,) = told(tmp_path, json.dumps({"mcpServers": {"it": entry}}), name="a.json")
    assert said in line and "$.mcpServers.it" in line


@pytest.mark.parametrize("flag", ["allowDangerousEnv", "allow_dangerous_env"])
def test_the_operator_may_allow_a_dangerous_variable(tmp_path: Path, flag: str) -> None:
    assert server(tmp_path, {"command": "a", "env": {"NODE_OPTIONS": "x"}, flag: True}).env == {
        "NODE_OPTIONS": "x"
    }


def test_every_fault_of_an_entry_is_told(tmp_path: Path) -> None:
    entry = {"command": "a", "url": "http://b", "env": {"LD_PRELOAD": "x", "NODE_OPTIONS": "y"}}
    assert len(told(tmp_path, json.dumps({"servers": {"it": entry}}), name="a.json")) == 3
