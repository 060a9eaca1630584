"""What every loop is asked, and how it is timed. Prints a line of JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Awaitable, Callable

MODEL_URL, TOOL_SERVER = sys.argv[1], [sys.executable, sys.argv[2]]
TURNS, ROUNDS, PARALLEL = int(sys.argv[3]), int(sys.argv[4]), 10


async def timed(ask: Callable[[str], Awaitable[str]]) -> None:
    """Time ``ask``, which answers a question with the tools: in wall and in processor time, in seconds."""
    found: dict[str, list[float]] = {"turns": [], "processor": [], "parallel": []}
    for number in range(ROUNDS + 2):
        for kind, question in (("turns", f"turns {TURNS}"), ("parallel", f"parallel {PARALLEL}")):
            wall, processor = time.perf_counter(), time.process_time()
            answer = await ask(question)
            assert "Done." in answer, answer
            if number >= 2:  # the first ones warm up
                found[kind].append(time.perf_counter() - wall)
                if kind == "turns":
                    found["processor"].append(time.process_time() - processor)
    print(json.dumps(found), flush=True)
