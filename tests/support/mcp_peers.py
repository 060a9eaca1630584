"""Specs of the servers in ``mcp_servers``, and running ones of theirs over HTTP."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.waiting import eventually
from toolspan_bridge.messages import ToolOutcome
from toolspan_bridge.toolbox import Toolbox
from toolspan_server.engines.upstreams import ServerSpec

_FOLDER = Path(__file__).parent / "mcp_servers"


def raw(mood: str = "good", *arguments: str, name: str = "raw", **more: Any) -> ServerSpec:
    """The server without a library, in a mood (see ``raw.py``)."""
    return ServerSpec(name, command=(sys.executable, str(_FOLDER / "raw.py"), mood, *arguments), **more)


def faulty(log: Path, name: str = "faulty", **more: Any) -> ServerSpec:
    """The server whose calls fail as they say (see ``faulty.py``); each call is a line of ``log``."""
    return ServerSpec(name, command=(sys.executable, str(_FOLDER / "faulty.py"), str(log)), **more)


def sdk(name: str = "sdk", **more: Any) -> ServerSpec:
    """The server built on the official SDK, over stdio."""
    return ServerSpec(name, command=(sys.executable, str(_FOLDER / "sdk.py"), "stdio"), **more)


def talker(era: str, mood: str = "", name: str = "talker", **more: Any) -> ServerSpec:
    """The server that talks in its calls, of an era (``old``, ``new``; see ``talker.py``), over stdio."""
    return ServerSpec(name, command=(sys.executable, str(_FOLDER / "talker.py"), era, mood), **more)


@contextmanager
def sdk_over(transport: str) -> Iterator[str]:
    """The official SDK's server over ``http`` or ``sse``; gives its url."""
    with _listening("sdk.py", transport) as address:
        yield f"{address}/{'mcp' if transport == 'http' else 'sse'}"


@contextmanager
def answers() -> Iterator[str]:
    """The HTTP server that answers each path in its own wrong way; gives its address."""
    with _listening("answers.py") as address:
        yield address


@contextmanager
def talker_over_http() -> Iterator[str]:
    """The server that talks in its calls, of the old era, over HTTP; gives its url."""
    with _listening("talker_http.py", "old", "") as address:
        yield f"{address}/mcp"


@contextmanager
def asker_over_sse() -> Iterator[str]:
    """The server whose tool asks the client (see ``asker.py``), over HTTP+SSE; gives its url."""
    with _listening("asker.py") as address:
        yield f"{address}/sse"


@contextmanager
def faulty_over_http(way: str, log: Path, name: str = "faulty", **more: Any) -> Iterator[ServerSpec]:
    """The server whose calls fail as they say, over ``http`` or ``sse`` (see ``faulty_http.py``)."""
    with _listening("faulty_http.py", str(log)) as address:
        url = f"{address}/{'mcp' if way == 'http' else 'sse'}"
        kind: Any = way
        yield ServerSpec(name, kind=kind, url=url, **more)


@contextmanager
def flooder_over_http(what: str) -> Iterator[str]:
    """The server of ``flooder_http.py``, which floods once its tool ``flood`` is called; gives its url."""
    with _listening("flooder_http.py", what) as address:
        yield f"{address}/mcp"


def babbler(seed: int) -> ServerSpec:
    """The server that speaks nonsense (see ``babbler.py``), over stdio."""
    return ServerSpec("babbler", command=(sys.executable, str(_FOLDER / "babbler.py"), str(seed)))


@contextmanager
def babbler_over_http(seed: int) -> Iterator[ServerSpec]:
    """The same over HTTP."""
    with _listening("babbler_http.py", str(seed)) as address:
        yield ServerSpec("babbler", kind="http", url=f"{address}/mcp")


@contextmanager
def _listening(script: str, *arguments: str) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, str(_FOLDER / script), *arguments, str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        if not eventually(lambda: _listens(port)):
            raise TimeoutError(f"nothing listens on port {port}")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def call(toolbox: Toolbox, name: str, /, **arguments: Any) -> ToolOutcome:
    """Call the one tool ``name``."""
    (spec,) = (tool for tool in toolbox.tools if tool.name == name)
    return await toolbox.call(spec, arguments, "1")


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
