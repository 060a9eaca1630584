"""The clients, as rows of data: where each keeps its servers, and how it writes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ....errors import UsageError

System = Literal["linux", "darwin", "windows"]
Variables = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class HostEnvironment:
    """The machine that a client runs on: its system, the user's home, the environment, the project."""

    system: System
    home: Path
    variables: Variables
    project: Path

    def folder(self, variable: str, *otherwise: str) -> Path:
        """The folder that ``variable`` names, or the one below home."""
        return (
            Path(self.variables[variable]) if self.variables.get(variable) else self.home.joinpath(*otherwise)
        )


@dataclass(frozen=True, slots=True)
class Client:
    """A client: its files for a user and for a project, the key of its servers, and its words for one.

    ``kinds`` says what ``type`` is of a command and of a URL, where it is written. ``url`` is the key
    of a URL; a client without one takes commands only, and ``remote`` says what to do instead.
    """

    title: str
    user: Callable[[HostEnvironment], Path]
    project: str | None = None
    key: str = "mcpServers"
    kinds: tuple[str, str] | None = None
    url: str | None = "url"
    headers: str = "headers"
    remote: str = ""
    toml: bool = False
    afterwards: str = "start it again to use this"

    def path(self, scope: str, where: HostEnvironment) -> Path:
        """Its file for ``scope``, ``user`` or ``project``. Raises ``UsageError`` where it has none."""
        if scope == "user":
            return self.user(where)
        if self.project is None:
            raise UsageError(f"{self.title} has no config of a project: leave --scope project out")
        return where.project / self.project


def application_folder(where: HostEnvironment, *below: str) -> Path:
    """Where applications of the desktop keep their settings."""
    if where.system == "windows":
        return where.folder("APPDATA", "AppData", "Roaming").joinpath(*below)
    if where.system == "darwin":
        return where.home.joinpath("Library", "Application Support", *below)
    return where.folder("XDG_CONFIG_HOME", ".config").joinpath(*below)


def _zed(where: HostEnvironment) -> Path:
    if where.system == "windows":
        return application_folder(where, "Zed", "settings.json")
    if where.system == "darwin":
        return where.home / ".config" / "zed" / "settings.json"
    return where.folder("XDG_CONFIG_HOME", ".config") / "zed" / "settings.json"


CLIENTS: Mapping[str, Client] = {
    "claude-desktop": Client(
        "Claude Desktop",
        lambda where: application_folder(where, "Claude", "claude_desktop_config.json"),
        url=None,
        remote="add it under Settings, Connectors",
    ),
    "claude-code": Client(
        "Claude Code",
        lambda where: (
            Path(where.variables["CLAUDE_CONFIG_DIR"]) / ".claude.json"
            if where.variables.get("CLAUDE_CONFIG_DIR")
            else where.home / ".claude.json"
        ),
        ".mcp.json",
        kinds=("stdio", "http"),
    ),
    "cursor": Client("Cursor", lambda where: where.home / ".cursor" / "mcp.json", ".cursor/mcp.json"),
    "vscode": Client(
        "VS Code",
        lambda where: application_folder(where, "Code", "User", "mcp.json"),
        ".vscode/mcp.json",
        key="servers",
        kinds=("stdio", "http"),
        afterwards="choose 'MCP: List Servers' there",
    ),
    "windsurf": Client(
        "Windsurf",
        lambda where: where.home / ".codeium" / "windsurf" / "mcp_config.json",
        url="serverUrl",
        afterwards="press Refresh in Cascade's list of MCP servers",
    ),
    "gemini-cli": Client(
        "Gemini CLI",
        lambda where: where.home / ".gemini" / "settings.json",
        ".gemini/settings.json",
        url="httpUrl",
    ),
    "codex": Client(
        "Codex",
        lambda where: where.folder("CODEX_HOME", ".codex") / "config.toml",
        ".codex/config.toml",
        key="mcp_servers",
        headers="http_headers",
        toml=True,
    ),
    "zed": Client(
        "Zed", _zed, ".zed/settings.json", key="context_servers", afterwards="it notices by itself"
    ),
}
