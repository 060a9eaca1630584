"""Servers that others wrote, installed into a cache: ``everything``, ``filesystem`` and ``memory`` from npm,
``git``, ``fetch`` and ``time`` from PyPI. Without leave to install them, or a network, tests skip aloud."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from conformance.install import FOLDER, Missing, installed
from tests.support.foreign_programs import NODE_TESTS
from tests.support.waiting import BOUND_S

NPM = {"everything": "2026.8.31", "filesystem": "2026.8.31", "memory": "2026.8.31"}
PYPI = {"git": "2026.10.19", "fetch": "2026.10.24", "time": "2026.10.19"}
INSTALL_S = 600
NOT_RUN = "NOT RUN: servers that others wrote; set TOOLSPAN_NODE_TESTS=1 to install and run them"


def foreign_servers(folder: Path) -> dict[str, Any]:
    """The six servers as entries of ``mcpServers``; files, notes and a git repository are in ``folder``."""
    if not NODE_TESTS:
        pytest.skip(f"Node.js: {NOT_RUN}")
    try:
        npm = {name: _npm(name, version) for name, version in NPM.items()}
        python = _python()
    except Missing as missing:
        pytest.skip(f"Node.js: NOT RUN: servers that others wrote cannot be installed: {missing}")
    repository = folder / "repository"
    repository.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=repository, check=True, timeout=BOUND_S)
    files = folder / "files"
    files.mkdir()
    return {
        "everything": _entry([*npm["everything"], "stdio"]),
        "filesystem": _entry([*npm["filesystem"], str(files)]),
        "memory": _entry(npm["memory"], MEMORY_FILE_PATH=str(folder / "memory.jsonl")),
        "git": _entry([str(python / "mcp-server-git"), "--repository", str(repository)]),
        "fetch": _entry([str(python / "mcp-server-fetch"), "--ignore-robots-txt", "--allow-private-ips"]),
        "time": _entry([str(python / "mcp-server-time"), "--local-timezone", "UTC"]),
    }


def _entry(command: list[str], **env: str) -> dict[str, Any]:
    return {"command": command[0], "args": command[1:], **({"env": env} if env else {})}


def _npm(name: str, version: str) -> list[str]:
    package = f"@modelcontextprotocol/server-{name}"
    return [*installed(f"{package}@{version}", Path("node_modules", package, "dist", "index.js"))]


def _python() -> Path:
    """The folder of the programs from PyPI. Raises ``Missing``."""
    folder = FOLDER / "python-servers"
    wanted = [f"mcp-server-{name}=={version}" for name, version in PYPI.items()]
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    mark = folder / "installed.txt"
    with FileLock(f"{folder}.lock"):
        if not mark.exists() or mark.read_text() != "\n".join(wanted):
            _run([sys.executable, "-m", "venv", str(folder)])
            pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            _run([str(programs / "python"), *pip, *wanted])
            mark.write_text("\n".join(wanted))
    return programs


def _run(line: list[str]) -> None:
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{' '.join(line)} failed: {error}") from None
    if done.returncode:
        raise Missing(f"{' '.join(line)} failed:\n{done.stderr[-2_000:]}")
