"""The least that a client can do: the same requests by a bare ``httpx2.AsyncClient``, nothing read of them.

``python -m benchmarks.trials.floor URL TRIALS AT_ONCE BODY`` prints ``{"seconds", "processor"}``.
"""

from __future__ import annotations

import json
import sys
import time

import anyio
import httpx2


async def main() -> None:
    """Post ``BODY`` so often, so many at once."""
    url, trials, at_once, body = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].encode()
    left = iter(range(trials))
    limits = httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    headers = {"content-type": "application/json", "authorization": "Bearer sk-none"}
    async with httpx2.AsyncClient(limits=limits, timeout=60, trust_env=False, verify=False) as client:

        async def post() -> None:
            for _ in left:
                async with client.stream("POST", url, content=body, headers=headers) as response:
                    await response.aread()

        began, spent = time.perf_counter(), time.process_time()
        async with anyio.create_task_group() as tasks:
            for _ in range(at_once):
                tasks.start_soon(post)
        seconds, processor = time.perf_counter() - began, time.process_time() - spent
    print(json.dumps({"seconds": seconds, "processor": processor}))


if __name__ == "__main__":
    anyio.run(main)
