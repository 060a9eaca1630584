"""A program whose background work fails: each work that is supervised raises once, when it first starts.

``failing("toolspan_bridge", "gateway", …)`` is the command line that runs the program so.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from toolspan_server.common import supervision

WORDS = "injected by a test: half of a pair"


def failing(module: str, *arguments: str | Path) -> list[str]:
    """The command line of ``module`` whose background work fails once."""
    return [sys.executable, "-m", "tests.support.failing_work", module, *map(str, arguments)]


def fail_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each work that this process supervises with ``kept`` raise once, when it first starts."""
    monkeypatch.setattr(supervision, "keep_running", _failing()[0])


def _main(module: str, arguments: list[str]) -> None:
    supervision.keep_running, supervision.run_contained = _failing()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _failing() -> tuple[Any, Any]:
    """``keep_running`` and ``run_contained`` of which each work raises once."""
    keep_running, run_contained = supervision.keep_running, supervision.run_contained
    failed: set[str] = set()

    def once(name: str, work: supervision.Work) -> supervision.Work:
        async def first() -> object:
            if name not in failed:
                failed.add(name)
                raise LookupError(f"{WORDS} \ud800")
            return await work()

        return first

    async def kept(name: str, work: supervision.Work) -> None:
        await keep_running(name, once(name, work))

    async def contained(name: str, work: supervision.Work) -> bool:
        return await run_contained(name, once(name, work))

    return kept, contained


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2:])
