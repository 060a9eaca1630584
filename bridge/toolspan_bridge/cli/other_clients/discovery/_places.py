"""The files in which clients keep their MCP servers, as rows of data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..install import CLIENTS
from ..install.clients import HostEnvironment, application_folder

Scope = Literal["user", "project"]
Dialect = Literal["literal", "shell", "gemini", "editor", "continue", "opencode"]
"""How a client writes variables: not at all, ``${VAR}``, also ``$VAR``, ``${env:VAR}`` and ``${input:id}``,
``${{ secrets.VAR }}``, or ``{env:VAR}``."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file of a client: ``keys`` lead to its servers, an object by name or a list with ``name`` in each."""

    client: str
    title: str
    scope: Scope
    path: Path
    keys: tuple[str, ...]
    dialect: Dialect = "literal"


@dataclass(frozen=True, slots=True)
class _More:
    """A client that is read and not written, or another place of one that is written."""

    client: str
    title: str
    user: Callable[[HostEnvironment], Iterable[Path]] = lambda _: ()
    project: Sequence[str] = ()
    keys: tuple[str, ...] = ("mcpServers",)
    dialect: Dialect = "literal"


_DIALECTS: dict[str, Dialect] = {
    "claude-code": "shell",
    "cursor": "editor",
    "vscode": "editor",
    "windsurf": "editor",
    "gemini-cli": "gemini",
}
_EDITORS = ("Code", "Code - Insiders", "VSCodium")


def _profiles(where: HostEnvironment) -> Iterable[Path]:
    """The ``mcp.json`` of every profile of VS Code and its variants, but for the first's default one."""
    for editor in _EDITORS:
        user = application_folder(where, editor, "User")
        if editor != "Code":
            yield user / "mcp.json"
        yield from sorted(user.glob("profiles/*/mcp.json"))


def _settings(where: HostEnvironment) -> Iterable[Path]:
    return [application_folder(where, editor, "User", "settings.json") for editor in _EDITORS]


def _cline(where: HostEnvironment) -> Iterable[Path]:
    yield where.home / ".cline" / "data" / "settings" / "cline_mcp_settings.json"
    extension = Path("globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")
    yield application_folder(where, "Code", "User") / extension


def _continue(where: HostEnvironment) -> Iterable[Path]:
    yield where.home / ".continue" / "config.yaml"
    yield from _blocks(where.home)


def _blocks(folder: Path) -> Iterable[Path]:
    """The files of ``.continue/mcpServers``, YAML of its own or JSON as other clients write it."""
    found = sorted((folder / ".continue" / "mcpServers").glob("*"))
    return [path for path in found if path.suffix in (".yaml", ".yml", ".json")]


def _opencode(where: HostEnvironment) -> Iterable[Path]:
    folder = where.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    return [folder / "opencode.json", folder / "opencode.jsonc"]


def _goose(where: HostEnvironment) -> Iterable[Path]:
    if where.system == "windows":
        return [application_folder(where, "Block", "goose", "config", "config.yaml")]
    return [where.folder("XDG_CONFIG_HOME", ".config") / "goose" / "config.yaml"]


_MORE = (
    _More("vscode", "VS Code", _profiles, keys=("servers",), dialect="editor"),
    _More(
        "vscode",
        "VS Code",
        _settings,
        project=[".vscode/settings.json"],
        keys=("mcp", "servers"),
        dialect="editor",
    ),
    _More("continue", "Continue", _continue, dialect="continue"),
    _More("cline", "Cline", _cline, dialect="editor"),
    _More(
        "copilot-cli",
        "Copilot CLI",
        lambda where: [where.folder("COPILOT_HOME", ".copilot") / "mcp-config.json"],
        dialect="shell",
    ),
    _More("goose", "Goose", _goose, keys=("extensions",)),
    _More(
        "kiro",
        "Kiro",
        lambda where: [where.home / ".kiro" / "settings" / "mcp.json"],
        project=[".kiro/settings/mcp.json"],
        dialect="shell",
    ),
    _More("lm-studio", "LM Studio", lambda where: [where.home / ".lmstudio" / "mcp.json"]),
    _More(
        "opencode",
        "opencode",
        _opencode,
        project=["opencode.json", "opencode.jsonc"],
        keys=("mcp",),
        dialect="opencode",
    ),
    _More("roo-code", "Roo Code", project=[".roo/mcp.json"], dialect="editor"),
)

CLIENT_NAMES = tuple(sorted({*CLIENTS, *(row.client for row in _MORE)}))
"""The clients whose servers are found."""


def places(where: HostEnvironment) -> list[Place]:
    """Where the clients of this user and of this project keep servers, whether the files exist or not."""
    return [*_written(where), *_local(where), *_read_only(where)]


def _written(where: HostEnvironment) -> Iterable[Place]:
    for name, client in CLIENTS.items():
        dialect = _DIALECTS.get(name, "literal")
        yield Place(name, client.title, "user", client.user(where), (client.key,), dialect)
        if client.project is not None:
            path = where.project / client.project
            yield Place(name, client.title, "project", path, (client.key,), dialect)


def _local(where: HostEnvironment) -> Iterable[Place]:
    """The servers that Claude Code keeps for this project in the user's file."""
    client = CLIENTS["claude-code"]
    keys = ("projects", str(where.project), client.key)
    yield Place("claude-code", client.title, "project", client.user(where), keys, "shell")


def _read_only(where: HostEnvironment) -> Iterable[Place]:
    for row in _MORE:
        for path in row.user(where):
            yield Place(row.client, row.title, "user", path, row.keys, row.dialect)
        paths = [where.project / name for name in row.project]
        if row.client == "continue" and where.project != where.home:
            paths += _blocks(where.project)
        for path in paths:
            yield Place(row.client, row.title, "project", path, row.keys, row.dialect)
