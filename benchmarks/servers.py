"""What is measured side by side: Toolspan, the bare minimum, and the peers that are installed."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from . import install
from .messages import ERAS, MODERN, STATELESS

PEERS = Path(__file__).parent / "peers"
TOOLSPAN = "toolspan"
BARE = "bare loop / ASGI"
LOW_LEVEL = "mcp low-level"
MCPSERVER = "mcp MCPServer"
FASTMCP = "FastMCP"
TOOLBOX = "mcp-toolbox"
TYPESCRIPT = "TypeScript SDK"

Command = Callable[[int], Sequence[str]]


@dataclass(frozen=True)
class Server:
    """How to start one: on stdio with a number of tools (3 or more), on HTTP at a port."""

    name: str
    version: str
    stdio: Command
    http: Command
    eras: Sequence[str] = ERAS
    any_number: bool = True


def servers() -> tuple[list[Server], list[str]]:
    """Those that can be measured here, and a sentence for each that cannot."""
    python = f"Python {platform.python_version()}"
    found = [
        Server(TOOLSPAN, version("toolspan"), _toolspan_stdio, _toolspan_http),
        Server(
            BARE,
            f"{python}, uvicorn {version('uvicorn')}",
            lambda _tools: [sys.executable, str(PEERS / "bare_loop.py")],
            lambda port: [sys.executable, "-m", "benchmarks.peers.bare_asgi", str(port)],
            any_number=False,
        ),
        _python(LOW_LEVEL, f"mcp {version('mcp')}", sys.executable, "low_level.py"),
        _python(MCPSERVER, f"mcp {version('mcp')}", sys.executable, "decorated.py", "mcp"),
    ]
    missing: list[str] = []
    for look_for in (_fastmcp, _toolbox, _typescript):
        one = look_for()
        if isinstance(one, Server):
            found.append(one)
        else:
            missing.append(one)
    return found, missing


def config_of(tools: int) -> Path:
    """A config of ``tools`` tools: the three of peers/toolspan.yaml, then more of the same sort."""
    if tools == 3:
        return PEERS / "toolspan.yaml"
    path = _scratch() / f"{tools}.yaml"
    if not path.exists():
        path.write_text(config_text(tools))
    return path


def config_text(tools: int) -> str:
    """The text of such a config; ``tools`` may be less than three."""
    head = "version: 1\ntools:\n  registry:\n"
    names = [*("echo", "add", "greet")[:tools], *(f"tool_{number}" for number in range(3, tools))]
    return head + "".join(_entry(name) for name in names)


def _entry(name: str) -> str:
    return (
        f"    - name: {name}\n"
        f"      description: Gives the text of {name} back.\n"
        "      parameters: {type: object, properties: {text: {type: string}}, required: [text]}\n"
        "      implementation: {type: builtin, handler: echo}\n"
    )


@cache
def _scratch() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="toolspan-bench-")
    _kept.append(folder)
    return Path(folder.name)


_kept: list[tempfile.TemporaryDirectory[str]] = []


def toolspan_command(config: Path) -> list[str]:
    """``toolspan-server`` on stdio, as an MCP client starts it."""
    return [str(Path(sys.executable).parent / "toolspan-server"), "--config", str(config)]


def _toolspan_stdio(tools: int) -> list[str]:
    return toolspan_command(config_of(tools))


def _toolspan_http(port: int) -> list[str]:
    return [*toolspan_command(config_of(3)), "--transport", "http", "--port", str(port)]


def _python(name: str, its_version: str, python: str, script: str, *words: str) -> Server:
    command = [python, str(PEERS / script), *words]
    return Server(
        name,
        its_version,
        lambda tools: [*command, "stdio", str(tools)],
        lambda port: [*command, "http", str(port)],
    )


def _fastmcp() -> Server | str:
    python = install.fastmcp_python()
    if not python.exists():
        return f"{FASTMCP} is not here: python -m benchmarks --install"
    return _python(
        FASTMCP, f"fastmcp {install.python_version('fastmcp')}", str(python), "decorated.py", "fastmcp"
    )


def _toolbox() -> Server | str:
    binary = install.toolbox_binary()
    if binary is None:
        return f"{TOOLBOX} is not here: python -m benchmarks --install (it needs npm)"
    command = [str(binary), "--config", str(PEERS / "mcp_toolbox.yaml"), "--disable-version-check"]
    return Server(
        TOOLBOX,
        install.node_version("@toolbox-sdk/server"),
        lambda _tools: [*command, "--stdio"],
        lambda port: [*command, "--port", str(port)],
        any_number=False,
    )


def _typescript() -> Server | str:
    node = shutil.which("node")
    if node is None or not (install.node_modules() / "@modelcontextprotocol").exists():
        return f"{TYPESCRIPT} is not here: python -m benchmarks --install (it needs Node.js)"
    command = [node, str(PEERS / "typescript.mjs"), str(install.node_modules().parent)]
    return Server(
        TYPESCRIPT,
        install.node_version("@modelcontextprotocol/sdk"),
        lambda _tools: [*command, "stdio"],
        lambda port: [*command, "http", str(port)],
        eras=(STATELESS,),
        any_number=False,
    )


__all__ = [
    "BARE",
    "FASTMCP",
    "LOW_LEVEL",
    "MCPSERVER",
    "MODERN",
    "TOOLBOX",
    "TOOLSPAN",
    "TYPESCRIPT",
    "Server",
    "config_of",
    "config_text",
    "servers",
    "toolspan_command",
]
