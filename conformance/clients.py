"""How the suites start our client: as forks of a warm process where the platform has them, else from cold."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_LAUNCHER = Path(__file__).with_name("client") / "launcher.py"


@contextmanager
def startable() -> Generator[str]:
    """The command that starts a client, to which the suite adds the URL. Raises ``RuntimeError`` when the
    warm process does not start."""
    if sys.platform != "linux":
        yield f"{sys.executable} -m conformance.client"
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "clients"
        warm = subprocess.Popen(
            [sys.executable, "-m", "conformance.client.warm", str(place)],
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            assert warm.stdout is not None, "it was opened as a pipe"
            if warm.stdout.readline() != "ready\n":
                raise RuntimeError("the client of the suites does not start (its error stands above)")
            yield f"{sys.executable} -I -S {_LAUNCHER} {place}"
        finally:
            os.killpg(warm.pid, signal.SIGTERM)  # clients that a suite has given up end too
            warm.wait()
