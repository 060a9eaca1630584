"""What an attack is, and the server that it is made on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.raw_http import tool_call
from tests.support.served import Served, write_config


@dataclass(frozen=True)
class Target:
    """The server under attack, and the folder that its config is in."""

    server: Served
    folder: Path


@dataclass(frozen=True)
class Attack:
    """One attack and its bounds.

    ``run`` makes it and raises ``AssertionError`` when something is answered wrongly. ``config`` writes the
    config to serve into a folder and gives its path; ``options`` are more words of the command line, ``env``
    more of the environment. ``steady`` is the second client's request, answered with 200. ``memory_mib``
    is by how much the server may grow at most while it is attacked, ``descriptors`` how many more
    may stay open, ``units`` how much the server may compute while the second client waits for an answer, in
    units of ``tests.support.cost``: far away from what is measured. The event loop may compute for
    ``loop_watch.ALLOWED_UNITS`` at once, ``stalls`` times that where configs are replaced: a full collection
    of the garbage that they leave takes its time. ``gateway``: the attack is made on the gateway.
    """

    requirement: str
    title: str
    run: Callable[[Target], None]
    config: Callable[[Path], Path] = write_config
    options: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict[str, str])
    steady: bytes = tool_call("echo", {"value": "steady"})
    memory_mib: int = 64
    descriptors: int = 0
    units: float = 300
    gateway: bool = False
    stalls: float = 1
