"""The peers that come from elsewhere, installed into ``.venv/bench`` and nowhere else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from compileall import compile_dir
from pathlib import Path

from .processes import ROOT

FOLDER = ROOT / ".venv" / "bench"
LOOPS = {
    "pydantic-ai": ("pydantic-ai-slim[openai,mcp]",),
    "openai-agents": ("openai-agents",),
    "langchain": ("langchain-mcp-adapters", "langgraph", "langchain", "langchain-openai"),
}
"""The agent loops of others, each with what it needs, in an environment of its own."""
GATEWAYS = {"litellm": "litellm[proxy]"}
"""The gateways of others."""
_NODE_PACKAGES = ("@toolbox-sdk/server", "@modelcontextprotocol/sdk@1", "express@5", "zod@3")


def install() -> None:
    """Install what is not there yet. Needs the network; what cannot be had is left out, aloud."""
    if not fastmcp_python().exists():
        _run([sys.executable, "-m", "venv", str(FOLDER / "fastmcp")])
        _run([str(fastmcp_python()), "-m", "pip", "install", "--quiet", "fastmcp", "uvicorn[standard]"])
    npm = shutil.which("npm")
    if npm is None:
        print("npm is not here: no mcp-toolbox and no TypeScript SDK")
    elif not node_modules().exists():
        node_modules().parent.mkdir(parents=True, exist_ok=True)
        (node_modules().parent / "package.json").write_text('{"private": true}\n')
        folder = ["--prefix", str(node_modules().parent)]
        _run([npm, "install", *folder, "--no-audit", "--no-fund", *_NODE_PACKAGES])


def install_loops() -> None:
    """Install the agent loops of others that are not there yet. Needs the network."""
    for name, packages in LOOPS.items():
        if not loop_python(name).exists():
            _run([sys.executable, "-m", "venv", str(FOLDER / name)])
            _run([str(loop_python(name)), "-m", "pip", "install", "--quiet", *packages])


def install_gateways() -> None:
    """Install the gateways of others that are not there yet. Needs the network."""
    for name, package in GATEWAYS.items():
        if not gateway_program(name).exists():
            _run([sys.executable, "-m", "venv", str(FOLDER / name)])
            _run([str(FOLDER / name / "bin" / "python"), "-m", "pip", "install", "--quiet", package])


def gateway_program(name: str) -> Path:
    """A gateway's program in its virtual environment, whether it is there or not."""
    return FOLDER / name / "bin" / name


def loop_python(name: str) -> Path:
    """The interpreter of an agent loop's virtual environment, whether it is there or not."""
    return FOLDER / name / "bin" / "python"


def fastmcp_python() -> Path:
    """The interpreter of FastMCP's virtual environment, whether it is there or not."""
    return FOLDER / "fastmcp" / "bin" / "python"


def node_modules() -> Path:
    """Where the Node packages are, whether they are there or not."""
    return FOLDER / "node" / "node_modules"


def toolbox_binary() -> Path | None:
    """The program inside mcp-toolbox's package for this platform."""
    return next(iter(node_modules().glob("@toolbox-sdk/server-*/bin/toolbox*")), None)


def node_version(package: str) -> str:
    """The installed version of a Node package. Raises ``OSError`` when it is not there."""
    return str(json.loads((node_modules() / package / "package.json").read_text())["version"])


def python_version(package: str) -> str:
    """The installed version of ``package`` in FastMCP's environment. Raises ``CalledProcessError``."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.check_output([str(fastmcp_python()), "-c", code], text=True).strip()


def _run(command: list[str]) -> None:
    print("$", " ".join(command), flush=True)
    if subprocess.run(command, check=False).returncode:
        print(f"failed: {' '.join(command)}")


def byte_compile() -> None:
    """Compile Toolspan's modules, as pip does with a package that it installs; the peers' are compiled."""
    for package in ("server", "bridge"):
        compile_dir(ROOT / package, quiet=1)
