"""What the number of tools costs: loading the config, listing the tools, calling one of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from ..messages import request
from ..processes import start, stop
from ..servers import config_text, toolspan_command
from ..stdio import Stdio
from .stdio_calls import one_by_one

_TURNS = 8
_LOAD = """
import json, sys
from time import perf_counter
from pathlib import Path
from toolspan_server.config import load_config
load_config(sys.argv[1])
began = perf_counter()
config = load_config(sys.argv[2])
loaded = perf_counter() - began
print(json.dumps([len(config.tools.registry), loaded]))
"""


def load_ms(tools: int) -> float:
    """Milliseconds to load a config of ``tools`` tools, in a process that has loaded one before."""
    with TemporaryDirectory() as folder:
        warm, config = _config(folder, 1), _config(folder, tools)
        process = start([sys.executable, "-c", _LOAD, str(warm), str(config)], pipes=True)
        try:
            output, _ = process.communicate()
        finally:
            stop(process)
    count, seconds = json.loads(output)
    if count != tools:
        raise RuntimeError(f"{count} tools loaded, not {tools}")
    return float(seconds) * 1000


def list_and_call(sizes: Sequence[int], calls: int) -> tuple[dict[int, float], dict[int, float]]:
    """Milliseconds of the first ``tools/list`` once a server is up, and of one call of its last tool.

    One server for each of ``sizes``, all at the same time; calls of one take turns with those of the others.
    """
    listed: dict[int, float] = {}
    called: dict[int, list[float]] = {size: [] for size in sizes}
    with TemporaryDirectory() as folder, ExitStack() as stack:
        clients = {
            size: stack.enter_context(Stdio(toolspan_command(_config(folder, size)))) for size in sizes
        }
        for size, client in clients.items():
            listed[size] = _list(client, size)
        for _ in range(_TURNS):
            for size, client in clients.items():
                called[size].append(one_by_one(client, calls // _TURNS, _last_tool(size)))
    return listed, {size: median(times) for size, times in called.items()}


def _list(client: Stdio, tools: int) -> float:
    began = perf_counter()
    listing = client.ask(request(1, "tools/list", {}))
    elapsed = perf_counter() - began
    if len(json.loads(listing)["result"]["tools"]) != tools:
        raise RuntimeError(f"not {tools} tools: {listing[:300]!r}")
    return elapsed * 1000


def _last_tool(tools: int) -> str:
    return ("echo", "add", "greet")[tools - 1] if tools <= 3 else f"tool_{tools - 1}"


def _config(folder: str, tools: int) -> Path:
    path = Path(folder) / f"{tools}.yaml"
    path.write_text(f"{config_text(tools)}limits:\n  page_size: {tools}\n")
    return path
