"""Where each client keeps its servers, and how it writes one."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from toolspan_bridge.cli.other_clients.install import CLIENTS, ServerEntry, planned, snippet
from toolspan_bridge.cli.other_clients.install.clients import HostEnvironment, System
from toolspan_bridge.errors import UsageError

pytestmark = pytest.mark.requirement("I4.3.9")
HOME = Path("/home/ann")
MAC = "Library/Application Support"
PLACES: dict[str, tuple[str, str, str]] = {
    "claude-desktop": (
        ".config/Claude/claude_desktop_config.json",
        f"{MAC}/Claude/claude_desktop_config.json",
        "AppData/Roaming/Claude/claude_desktop_config.json",
    ),
    "claude-code": (".claude.json",) * 3,
    "cursor": (".cursor/mcp.json",) * 3,
    "vscode": (
        ".config/Code/User/mcp.json",
        f"{MAC}/Code/User/mcp.json",
        "AppData/Roaming/Code/User/mcp.json",
    ),
    "windsurf": (".codeium/windsurf/mcp_config.json",) * 3,
    "gemini-cli": (".gemini/settings.json",) * 3,
    "codex": (".codex/config.toml",) * 3,
    "zed": (".config/zed/settings.json", ".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"),
}
COMMAND = ServerEntry(["/bin/toolspan-server", "--config", "/a/b.yaml"], {"KEY": "v"})
AT_URL = ServerEntry(url="https://tools.example.com/mcp", headers={"Authorization": "Bearer x"})
PLAIN = {"command": "/bin/toolspan-server", "args": ["--config", "/a/b.yaml"], "env": {"KEY": "v"}}
HEADERS = {"Authorization": "Bearer x"}
URL = "https://tools.example.com/mcp"
SHAPES: dict[str, tuple[str, dict[str, Any], dict[str, Any] | None]] = {
    "claude-desktop": ("mcpServers", PLAIN, None),
    "claude-code": (
        "mcpServers",
        {"type": "stdio", **PLAIN},
        {"type": "http", "url": URL, "headers": HEADERS},
    ),
    "cursor": ("mcpServers", PLAIN, {"url": URL, "headers": HEADERS}),
    "vscode": ("servers", {"type": "stdio", **PLAIN}, {"type": "http", "url": URL, "headers": HEADERS}),
    "windsurf": ("mcpServers", PLAIN, {"serverUrl": URL, "headers": HEADERS}),
    "gemini-cli": ("mcpServers", PLAIN, {"httpUrl": URL, "headers": HEADERS}),
    "codex": ("mcp_servers", PLAIN, {"url": URL, "http_headers": HEADERS}),
    "zed": ("context_servers", PLAIN, {"url": URL, "headers": HEADERS}),
}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(("index", "system"), [(0, "linux"), (1, "darwin"), (2, "windows")])
def test_each_client_has_its_file_on_each_system(client: str, index: int, system: System) -> None:
    path = CLIENTS[client].path("user", HostEnvironment(system, HOME, {}, Path("/p")))
    assert PurePosixPath(path) == PurePosixPath(HOME, PLACES[client][index])


def test_folders_that_variables_name_win() -> None:
    variables = {"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d", "APPDATA": "/r"}
    linux, windows = (HostEnvironment(each, HOME, variables, Path("/p")) for each in ("linux", "windows"))
    assert CLIENTS["zed"].path("user", linux) == Path("/x/zed/settings.json")
    assert CLIENTS["codex"].path("user", linux) == Path("/c/config.toml")
    assert CLIENTS["claude-code"].path("user", linux) == Path("/d/.claude.json")
    assert CLIENTS["vscode"].path("user", windows) == Path("/r/Code/User/mcp.json")


def test_a_project_has_a_file_of_its_own_where_the_client_has_one() -> None:
    where = HostEnvironment("linux", HOME, {}, Path("/p"))
    assert CLIENTS["claude-code"].path("project", where) == Path("/p/.mcp.json")
    assert CLIENTS["vscode"].path("project", where) == Path("/p/.vscode/mcp.json")
    for client in ("claude-desktop", "windsurf"):
        with pytest.raises(UsageError, match="has no config of a project"):
            CLIENTS[client].path("project", where)


@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_writes_a_server_in_its_own_words(client: str, tmp_path: Path) -> None:
    key, by_command, at_url = SHAPES[client]
    row = CLIENTS[client]
    load: Any = tomllib.loads if row.toml else json.loads
    assert load(snippet(row, "mine", COMMAND)) == {key: {"mine": by_command}}
    assert load(planned(row, tmp_path / "none", "mine", COMMAND).after) == {key: {"mine": by_command}}
    if at_url is None:
        with pytest.raises(UsageError, match="takes no URL"):
            snippet(row, "mine", AT_URL)
    else:
        assert load(snippet(row, "mine", AT_URL)) == {key: {"mine": at_url}}


@pytest.mark.parametrize(
    ("client", "text", "message"),
    [
        ("cursor", '{\n  "a": 1,,\n}', ":2:10: a key"),
        ("codex", "a = 1\nb =\n", "line 2"),
        ("cursor", '{"mcpServers": []}', "holds no object"),
        ("codex", 'mcp_servers = {mine = {command = "x"}}\n', "cannot be edited safely"),
        ("codex", "mcp_servers = 1\n", "holds no object"),
    ],
)
def test_a_file_that_cannot_be_edited_is_left_alone_with_its_place(
    tmp_path: Path, client: str, text: str, message: str
) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        planned(CLIENTS[client], path, "mine", COMMAND)
    assert str(path) in str(caught.value) and message in str(caught.value)
    assert path.read_text() == text
