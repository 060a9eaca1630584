"""``toolspan serve`` of a config over HTTP, for as long as it is needed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory

CONFIG = Path("configs") / "conformance.yaml"
_ROOT = Path(__file__).parents[1]
_ADDRESS = re.compile(r"http://[^\s/]+/mcp")
_START_S = 60
_STOP_S = 10


@contextmanager
def served(config: Path) -> Generator[str]:
    """The address of the server's endpoint. Raises ``RuntimeError`` when it does not start."""
    command = [sys.executable, "-m", "toolspan_bridge", "serve", "--config", str(config)]
    process = subprocess.Popen(
        [*command, "--transport", "http", "--port", "0"],
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines: Queue[str | None] = Queue()
    threading.Thread(target=_pass_on, args=(process, lines), daemon=True).start()
    try:
        yield _address(lines)
    finally:
        process.terminate()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def aggregated(config: Path) -> Generator[str]:
    """The address of a server that has nothing but that of ``config`` behind it, as ``serve --aggregate``."""
    with served(config) as behind, TemporaryDirectory() as folder:
        everything: dict[str, object] = {"prefix": "", "approval": "never", "connect_seconds": _START_S}
        everything["may_ask"] = ["elicitation", "sampling", "roots"]
        document = {
            "name": "aggregate",
            "mcpServers": {"behind": {"url": behind}},
            "aggregate": {"servers": {"behind": everything}},
            "limits": {"upstream_connect_seconds": _START_S},
        }
        path = Path(folder) / "toolspan.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        with served(path) as url:
            yield url


def _pass_on(process: subprocess.Popen[str], lines: Queue[str | None]) -> None:
    assert process.stderr is not None, "it was opened as a pipe"
    for line in process.stderr:
        lines.put(line)
    lines.put(None)


def _address(lines: Queue[str | None]) -> str:
    said: list[str] = []
    while True:
        try:
            line = lines.get(timeout=_START_S)
        except Empty:
            line = None
        if line is None:
            raise RuntimeError("the server does not start:\n" + "".join(said))
        said.append(line)
        if (found := _ADDRESS.search(line)) is not None:
            return found.group()
