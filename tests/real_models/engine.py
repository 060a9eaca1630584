"""llama.cpp's server with a model, on a free port of this machine, as long as it is needed.

It is the one in the package ``xllamacpp``, or the program that ``TOOLSPAN_REAL_ENGINE`` names.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from tests.support.mcp_peers import free_port

from .weights import Unavailable

CONTEXT = 8_192
"""The context of each conversation as the engine is started, in tokens."""

_RUNNER = Path(__file__).with_name("serve_weights.py")
_START_S = 180
_STOP_S = 20


def free_threads(processors: int | None = None, load: float | None = None) -> int:
    """How many threads an engine should have: as many as there are processors free. Its threads wait for each
    other without sleeping, so that two of them beside other work take many times as long as one.
    """
    count = processors or os.cpu_count() or 1
    if load is None:
        load = 0.0 if sys.platform == "win32" else os.getloadavg()[0]
    return max(1, min(count, round(count - load)))


@contextmanager
def llama_server(engine: Path, weights: Path, log: Path, *, threads: int, at_once: int = 1) -> Generator[str]:
    """The address of the ``engine``, a package's folder or a program, without a path, which answers
    ``at_once`` requests at a time. What it says is written to ``log``.

    Raises ``Unavailable`` when it cannot be executed here, ``RuntimeError`` when it runs but does not start.
    """
    port = free_port()
    with log.open("wb") as file:
        try:
            process = subprocess.Popen(
                _command(engine.resolve(), weights.name, port, threads, at_once),
                cwd=weights.parent,  # so that the engine calls the model by its file's name alone
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise Unavailable(f"{engine} cannot be executed: {error.strerror}") from None
        try:
            base = f"http://127.0.0.1:{port}"
            _wait(process, base, log)
            yield base
        finally:
            process.terminate()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(_STOP_S)


def _command(engine: Path, weights: str, port: int, threads: int, at_once: int) -> list[str]:
    if engine.is_dir():
        numbers = (str(number) for number in (port, CONTEXT * at_once, threads, at_once))
        return [sys.executable, str(_RUNNER), str(engine), weights, *numbers]
    address = ["--host", "127.0.0.1", "--port", str(port)]
    sizes = ["-c", str(CONTEXT * at_once), "-np", str(at_once), "-t", str(threads)]
    return [str(engine), "-m", weights, *address, *sizes, "--jinja"]


def _wait(process: subprocess.Popen[bytes], base: str, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            if httpx2.get(f"{base}/health", timeout=5.0).status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the engine did not start: {log.read_bytes()[-1_000:].decode(errors='replace')}")
