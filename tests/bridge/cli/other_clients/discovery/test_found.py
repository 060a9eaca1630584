"""The servers of other clients, read from files as those clients write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolspan_bridge.cli.other_clients.discovery import FoundServer, found_servers
from toolspan_bridge.cli.other_clients.discovery.clients import CLIENT_NAMES
from toolspan_bridge.cli.other_clients.install import CLIENTS
from toolspan_bridge.cli.other_clients.install.clients import HostEnvironment, System

pytestmark = pytest.mark.requirement("I12.2.70")
MAC = "Library/Application Support"
URL = "https://mcp.example.com/mcp"
NPX = {"command": "npx", "args": ["-y", "some-server"], "env": {"MODE": "fast"}}

USER: list[tuple[str, str, Any, dict[str, dict[str, Any]]]] = [
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
        {"mcpServers": {"a": NPX}, "globalShortcut": "Alt+Space"},
        {"a": NPX},
    ),
    (
        "claude-code",
        ".claude.json",
        {
            "mcpServers": {
                "a": {"type": "stdio", **NPX},
                "b": {"type": "http", "url": URL, "headers": {"Authorization": "Bearer ${TOKEN:-none}"}},
                "c": {"type": "sse", "url": "https://mcp.example.com/events"},
            }
        },
        {
            "a": NPX,
            "b": {"type": "http", "url": URL, "headers": {"Authorization": "Bearer ${TOKEN:-none}"}},
            "c": {"type": "sse", "url": "https://mcp.example.com/events"},
        },
    ),
    (
        "cursor",
        ".cursor/mcp.json",
        {
            "mcpServers": {
                "a": {
                    "command": "${userHome}/bin/it",
                    "env": {"KEY": "${env:MY_KEY}", "DIR": "${workspaceFolder}/x"},
                },
                "b": {"url": URL},
            }
        },
        {"a": {"command": "HOME/bin/it", "env": {"KEY": "${MY_KEY}", "DIR": "PROJECT/x"}}, "b": {"url": URL}},
    ),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        '// mine\n{"inputs": [{"type": "promptString", "id": "api-key", "password": true}], "servers": {'
        '"a": {"type": "stdio", "command": "npx", "args": ["--key", "${input:api-key}",], },}}',
        {"a": {"command": "npx", "args": ["--key", "${API_KEY}"]}},
    ),
    (
        "vscode",
        ".config/Code - Insiders/User/profiles/-1a2b/mcp.json",
        {"servers": {"a": {"type": "http", "url": URL}}},
        {"a": {"type": "http", "url": URL}},
    ),
    (
        "vscode",
        ".config/Code/User/settings.json",
        {"editor.tabSize": 2, "mcp": {"servers": {"old": {"command": "it"}}}},
        {"old": {"command": "it"}},
    ),
    (
        "windsurf",
        ".codeium/windsurf/mcp_config.json",
        {"mcpServers": {"a": {"serverUrl": URL, "headers": {"X": "${env:X_KEY}"}, "disabled": True}}},
        {"a": {"url": URL, "headers": {"X": "${X_KEY}"}, "disabled": True}},
    ),
    (
        "gemini-cli",
        ".gemini/settings.json",
        {
            "mcpServers": {
                "a": {"httpUrl": URL},
                "b": {"url": "https://x.example/s", "timeout": 5000},
                "c": {"command": "it", "env": {"KEY": "$MY_KEY", "OTHER": "${OTHER}"}, "cwd": "./in"},
            }
        },
        {
            "a": {"url": URL},
            "b": {"type": "sse", "url": "https://x.example/s"},
            "c": {"command": "it", "env": {"KEY": "${MY_KEY}", "OTHER": "${OTHER}"}, "cwd": "./in"},
        },
    ),
    (
        "codex",
        ".codex/config.toml",
        'model = "x"\n[mcp_servers.a]\ncommand = "npx"\nargs = ["-y", "s"]\nenv_vars = ["TOKEN"]\n'
        '[mcp_servers.a.env]\nMODE = "fast"\n'
        f'[mcp_servers.b]\nurl = "{URL}"\nbearer_token_env_var = "B_TOKEN"\nenabled = false\n'
        'http_headers = { X = "1" }\nenv_http_headers = { Y = "Y_KEY" }\n',
        {
            "a": {"command": "npx", "args": ["-y", "s"], "env": {"MODE": "fast", "TOKEN": "${TOKEN}"}},
            "b": {
                "url": URL,
                "headers": {"X": "1", "Authorization": "Bearer ${B_TOKEN}", "Y": "${Y_KEY}"},
                "disabled": True,
            },
        },
    ),
    (
        "zed",
        ".config/zed/settings.json",
        '// Zed\n{"context_servers": {"a": {"source": "custom", "command": "npx", "args": ["${X}"]},'
        '"b": {"command": {"path": "it", "args": ["1"], "env": {"K": "v"}}, "settings": {}},'
        f'"c": {{"url": "{URL}"}}}}}}',
        {
            "a": {"command": "npx", "args": ["$${X}"]},
            "b": {"command": "it", "args": ["1"], "env": {"K": "v"}},
            "c": {"url": URL},
        },
    ),
    (
        "continue",
        ".continue/config.yaml",
        "name: me\nversion: 0.0.1\nmcpServers:\n  - name: a\n    command: npx\n    args: [-y, s]\n"
        "    env:\n      KEY: ${{ secrets.MY_KEY }}\n"
        f"  - name: b\n    type: streamable-http\n    url: {URL}\n"
        "    requestOptions: {headers: {X: y}}\n",
        {
            "a": {"command": "npx", "args": ["-y", "s"], "env": {"KEY": "${MY_KEY}"}},
            "b": {"type": "http", "url": URL, "headers": {"X": "y"}},
        },
    ),
    (
        "continue",
        ".continue/mcpServers/block.yaml",
        "name: Block\nmcpServers:\n  - name: a\n    command: it\n",
        {"a": {"command": "it"}},
    ),
    (
        "cline",
        ".cline/data/settings/cline_mcp_settings.json",
        {"mcpServers": {"a": {**NPX, "autoApprove": ["x"], "disabled": False}}},
        {"a": NPX},
    ),
    ("copilot-cli", ".copilot/mcp-config.json", {"mcpServers": {"a": {"type": "local", **NPX}}}, {"a": NPX}),
    (
        "goose",
        ".config/goose/config.yaml",
        "extensions:\n  a:\n    type: stdio\n    cmd: npx\n    args: [-y, s]\n    envs: {MODE: fast}\n"
        "    env_keys: [TOKEN]\n    enabled: false\n"
        f"  b:\n    type: streamable_http\n    uri: {URL}\n",
        {
            "a": {
                "command": "npx",
                "args": ["-y", "s"],
                "env": {"MODE": "fast", "TOKEN": "${TOKEN}"},
                "disabled": True,
            },
            "b": {"type": "http", "url": URL},
        },
    ),
    ("kiro", ".kiro/settings/mcp.json", {"mcpServers": {"a": NPX}}, {"a": NPX}),
    ("lm-studio", ".lmstudio/mcp.json", {"mcpServers": {"a": {"url": URL}}}, {"a": {"url": URL}}),
    (
        "opencode",
        ".config/opencode/opencode.jsonc",
        {
            "mcp": {
                "a": {"type": "local", "command": ["bun", "x", "s"], "environment": {"K": "{env:MY_KEY}"}},
                "b": {"type": "remote", "url": URL, "enabled": False},
            }
        },
        {
            "a": {"command": "bun", "args": ["x", "s"], "env": {"K": "${MY_KEY}"}},
            "b": {"type": "http", "url": URL, "disabled": True},
        },
    ),
]
PROJECT = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "gemini-cli": ".gemini/settings.json",
    "codex": ".codex/config.toml",
    "zed": ".zed/settings.json",
    "continue": ".continue/mcpServers/a.json",
    "kiro": ".kiro/settings/mcp.json",
    "opencode": "opencode.json",
    "roo-code": ".roo/mcp.json",
}


def machine(root: Path, system: System = "linux", **variables: str) -> HostEnvironment:
    (root / "home").mkdir(exist_ok=True)
    (root / "project").mkdir(exist_ok=True)
    return HostEnvironment(system, root / "home", variables, root / "project")


def put(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def by_name(found: list[FoundServer]) -> dict[str, Any]:
    return {server.name: server.entry for server in found}


@pytest.mark.parametrize(("client", "path", "content", "expected"), USER, ids=lambda each: str(each)[:40])
def test_each_client_is_read_as_it_writes(
    tmp_path: Path, client: str, path: str, content: Any, expected: dict[str, Any]
) -> None:
    where = machine(tmp_path)
    put(where.home / path, content)
    servers, unread = found_servers(where)
    text = json.dumps(expected).replace("HOME", str(where.home)).replace("PROJECT", str(where.project))
    assert (by_name(servers), unread) == (json.loads(text), [])
    assert {(each.client, each.scope, each.file) for each in servers} == {(client, "user", where.home / path)}


def test_every_client_that_is_named_has_a_case() -> None:
    assert {client for client, *_ in USER} | set(PROJECT) == set(CLIENT_NAMES)
    assert set(CLIENTS) <= set(CLIENT_NAMES)


@pytest.mark.parametrize("client", PROJECT)
def test_the_folder_s_own_files_are_read_as_the_project_s(tmp_path: Path, client: str) -> None:
    where = machine(tmp_path)
    row = CLIENTS.get(client)
    key = row.key if row else {"opencode": "mcp"}.get(client, "mcpServers")
    content: Any = {key: {"a": {"command": "it"}}}
    put(
        where.project / PROJECT[client], '[mcp_servers.a]\ncommand = "it"\n' if client == "codex" else content
    )
    servers, _ = found_servers(where)
    assert [(each.client, each.scope, each.entry) for each in servers] == [
        (client, "project", {"command": "it"})
    ]


def test_servers_that_claude_code_keeps_for_this_folder_alone_are_its_own(tmp_path: Path) -> None:
    where = machine(tmp_path)
    of_others = {"mcpServers": {"other": {"command": "x"}}}
    own = {"mcpServers": {"mine": {"command": "y"}}}
    put(where.home / ".claude.json", {"projects": {"/elsewhere": of_others, str(where.project): own}})
    servers, _ = found_servers(where)
    assert [(each.name, each.scope) for each in servers] == [("mine", "project")]


@pytest.mark.parametrize(
    ("system", "path"),
    [
        ("darwin", f"{MAC}/Claude/claude_desktop_config.json"),
        ("windows", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("linux", ".config/Claude/claude_desktop_config.json"),
    ],
)
def test_each_system_has_its_folders(tmp_path: Path, system: System, path: str) -> None:
    where = machine(tmp_path, system)
    put(where.home / path, {"mcpServers": {"a": {"command": "it"}}})
    assert by_name(found_servers(where)[0]) == {"a": {"command": "it"}}


@pytest.mark.requirement("I12.2.71")
@pytest.mark.parametrize(
    ("path", "content", "says"),
    [
        (".cursor/mcp.json", '{"mcpServers": {"a": ', "not JSON: line 1"),
        (".codex/config.toml", "[mcp_servers.a\n", "not TOML"),
        (".continue/config.yaml", "mcpServers: [\n", "not YAML"),
        (".lmstudio/mcp.json", '{"mcpServers": 5}', "is no object"),
        (".kiro/settings/mcp.json", "[1]", "no object"),
        (".gemini/settings.json", "[" * 100_000, "nested"),
        (".copilot/mcp-config.json", b"\xff\xfe{}", "UTF-8"),
        (
            ".codeium/windsurf/mcp_config.json",
            {"mcpServers": {str(n): {} for n in range(501)}},
            "501 servers",
        ),
    ],
)
def test_a_broken_file_is_named_and_the_others_are_read(
    tmp_path: Path, path: str, content: Any, says: str
) -> None:
    where = machine(tmp_path)
    put(where.home / ".config/Claude/claude_desktop_config.json", {"mcpServers": {"good": {"command": "it"}}})
    put(where.home / path, "" if isinstance(content, bytes) else content)
    if isinstance(content, bytes):
        (where.home / path).write_bytes(content)
    servers, unread = found_servers(where)
    assert list(by_name(servers)) == ["good"]
    assert [(each.file, says in each.problem) for each in unread] == [(where.home / path, True)]


def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path: Path) -> None:
    import os

    where = machine(tmp_path)
    (where.home / ".cursor").mkdir()
    os.mkfifo(where.home / ".cursor/mcp.json")
    assert "regular file" in found_servers(where)[1][0].problem


@pytest.mark.requirement("I12.2.71")
@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("text", "no object"),
        ({}, "neither a command nor a URL"),
        ({"command": "x", "url": URL}, "both"),
        ({"command": 5}, "no text"),
        ({"command": "x", "args": "y"}, "no list"),
        ({"command": "x", "env": ["A=b"]}, "no object"),
        ({"command": "x", "env": {"LD_PRELOAD": "hunter2"}}, "changes which code"),
        ({"type": "ws", "url": "wss://x"}, "none that can be connected to"),
        ({"url": "ftp://x"}, "not an http or https URL"),
    ],
)
def test_an_entry_that_cannot_be_used_says_why_and_shows_no_value(
    tmp_path: Path, entry: Any, says: str
) -> None:
    where = machine(tmp_path)
    put(where.home / ".cursor/mcp.json", {"mcpServers": {"bad": entry, "good": {"command": "it"}}})
    bad, good = found_servers(where)[0]
    assert (bad.entry, good.entry) == (None, {"command": "it"})
    assert says in " ".join(bad.problems)
    assert "hunter2" not in " ".join(bad.problems)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"command": "x", "args": ["${command:pick}"]}, "${command:pick} cannot be filled in here"),
        ({"command": "x", "envFile": "${workspaceFolder}/.env"}, "envFile"),
        ({"command": "/opt/bin/toolspan-server", "args": []}, "a server of toolspan"),
        ({"command": "x", "disabled": True}, "disabled there"),
    ],
)
def test_what_another_client_does_and_we_do_not_is_said(tmp_path: Path, entry: Any, says: str) -> None:
    where = machine(tmp_path)
    put(where.home / ".cursor/mcp.json", {"mcpServers": {"a": entry}})
    (server,) = found_servers(where)[0]
    assert server.entry is not None
    assert says in " ".join(server.problems)
