"""Node and the suites, installed into ``.venv/conformance`` and nowhere else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

FOLDER = Path(__file__).parents[1] / ".venv" / "conformance"
LEAST_NODE = 22
_NODE_PACKAGE = "node@24"
_INSTALL_S = 600
_ENTRY = Path("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")


class Missing(Exception):
    """What is needed cannot be had. The message says what, and what to do."""


def installed(package: str, entry: Path = _ENTRY) -> tuple[str, str]:
    """The command that runs ``package``, installed when it is not there: Node, and the program at ``entry``
    of the package's folder.

    Of processes that want one at the same time, one installs it. Raises ``Missing``.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(FOLDER / "install.lock"):
        node = _node()
        folder = FOLDER / re.sub(r"[^A-Za-z0-9.-]+", "-", package).strip("-")
        if not (folder / entry).exists():
            _npm(folder, "install", package)
    return str(node), str(folder / entry)


def _node() -> Path:
    """A Node that the suites run on: the one of the PATH, or the one of npm's package ``node``."""
    found = shutil.which("node")
    if found is not None and _major(found) >= LEAST_NODE:
        return Path(found)
    folder = FOLDER / "node"
    program = folder / "node_modules" / "node" / "bin" / ("node.exe" if os.name == "nt" else "node")
    if not _runs(program):
        _npm(folder, "install", _NODE_PACKAGE)
    if not _runs(program):  # npm 11 and later run no install script that was not approved
        _npm(folder, "install-scripts", "approve", "node")
        _npm(folder, "rebuild", "node")
    if not _runs(program):
        raise Missing(f"{_NODE_PACKAGE} was installed, but {program} does not run")
    return program


def _npm(folder: Path, *arguments: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Missing(
            f"npm is not here. Install Node.js {LEAST_NODE} or newer (https://nodejs.org), which brings it."
        )
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "package.json").exists():
        (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    quiet = ("--no-audit", "--no-fund", "--save-exact") if arguments[0] == "install" else ()
    command = [npm, *arguments, *quiet]
    try:
        done = _run(command, folder)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{' '.join(command)} failed: {error}") from None
    if done.returncode and arguments[0] == "install":
        raise Missing(f"{' '.join(command)} failed:\n{done.stderr[-2_000:]}")


def _major(node: str | Path) -> int:
    try:
        version = _run([str(node), "--version"], None).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.match(r"v([0-9]+)\.", version)
    return int(found[1]) if found else 0


def _runs(program: Path) -> bool:
    return program.exists() and _major(program) >= LEAST_NODE


def _run(command: Sequence[str], folder: Path | None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=_INSTALL_S, check=False
    )
