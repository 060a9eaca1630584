"""Everything at once: 200 clients, a config that is rewritten, broken too, and an upstream that keeps ending.

``TOOLSPAN_CROWD_SECONDS`` says for how long, 60 by default.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.crowd import Seen, crowd
from tests.support.processes import resident
from tests.support.served import write_config

from ..attack import Attack, Target

_SECONDS = float(os.environ.get("TOOLSPAN_CROWD_SECONDS", "60"))
_CLIENTS = 200
_EVERY_S = 1.0
_BROKEN_EACH = 5
_GROWS_BY_MIB = 32
_SORTS = ("echo", "upstream", "upstream failed")
_MOST_CROWDS = 12
_RAW = Path(__file__).parents[2] / "support" / "mcp_servers" / "raw.py"
_LIMITS = {"connections": 400, "idle_seconds": 60, "concurrent_calls": 64, "queued_calls": 4_000}


def _config(folder: Path) -> Path:
    upstreams = {"raw": {"command": sys.executable, "args": [str(_RAW)]}}
    config = write_config(folder, "wait", "large", limits=_LIMITS, services={"upstreams": upstreams})
    content = json.loads(config.read_text())
    content["tools"]["sources"] = [
        {"type": "mcp", "upstream": "raw", "include": ["echo", "die"], "prefix": "up."}
    ]
    config.write_text(json.dumps(content))
    return config


def run(target: Target) -> None:
    """A short crowd first, for what is made once; then the whole."""
    address, pid = target.server.address, target.server.process.pid
    assert crowd(address, _CLIENTS, min(5.0, _SECONDS)).right
    before = resident(pid)
    with _rewritten(target.folder / "toolspan.json"):
        seen = _crowd_of_every_sort(address)
    grown = (resident(pid) - before) / 2**20
    print(f"  {sum(seen.right.values()):,} right, {len(seen.wrong)} wrong, {len(seen.lost)} lost", end="; ")
    print(f"{dict(seen.right)}; slowest {seen.slowest:.2f} s; memory {grown:+.0f} MiB", flush=True)
    assert not seen.wrong and not seen.lost, [*seen.wrong[:3], *seen.lost[:3]]
    assert all(seen.right[sort] for sort in _SORTS), f"only {dict(seen.right)} in {_MOST_CROWDS} crowds"
    assert grown < _GROWS_BY_MIB, f"memory grew by {grown:.0f} MiB"


def _crowd_of_every_sort(address: tuple[str, int]) -> Seen:
    """What a crowd saw; another one where a busy machine left no time for every sort of answer."""
    seen = crowd(address, _CLIENTS, _SECONDS)
    for _ in range(_MOST_CROWDS - 1):
        if all(seen.right[sort] for sort in _SORTS):
            break
        more = crowd(address, _CLIENTS, _SECONDS)
        seen.right += more.right
        seen.wrong += more.wrong
        seen.lost += more.lost
        seen.slowest = max(seen.slowest, more.slowest)
    return seen


@contextmanager
def _rewritten(path: Path) -> Iterator[None]:
    """Replace the config once a second while the block runs, sometimes by a broken one."""
    right: dict[str, Any] = json.loads(path.read_text())
    ended = threading.Event()

    def rewrite() -> None:
        number = 0
        while not ended.wait(_EVERY_S):
            number += 1
            text = json.dumps({**right, "instructions": f"Version {number}."})
            _replaced(path, text[:-9] if number % _BROKEN_EACH == 0 else text)

    rewriting = threading.Thread(target=rewrite)
    rewriting.start()
    try:
        yield
    finally:
        ended.set()
        rewriting.join()
        _replaced(path, json.dumps(right))


def _replaced(path: Path, text: str) -> None:
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)


ATTACK = Attack(
    "I9.5.3",
    "a crowd with slow and deaf clients, config rewrites and crashing upstreams",
    run,
    config=_config,
    memory_mib=400,
    descriptors=4,  # the pipes of an upstream that is up again
    units=1_000,
    stalls=4,
)
