"""Programs that no one here wrote: whether tests may install them, where they are, how they are run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

NODE_TESTS = os.environ.get("TOOLSPAN_NODE_TESTS") == "1"
"""Whether tests may install programs from npm and PyPI; a test that may not skips, and says so."""

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "toolspan-tests" / "interop"
INSTALL_S = 300


def python_with(name: str, *packages: str) -> Path:
    """The interpreter of the environment ``name``, with these ``packages`` of PyPI installed."""
    folder = CACHE / name
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    installed, wanted = folder / "installed", "\n".join(packages)
    if not installed.exists() or installed.read_text() != wanted:
        output_of([sys.executable, "-m", "venv", "--clear", str(folder)])
        output_of([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
        installed.write_text(wanted)
    return python


def output_of(line: list[str], seconds: float = INSTALL_S) -> str:
    """What the command prints on stdout; it has to end well, within so many seconds."""
    done = subprocess.run(line, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout
