"""The trials, made by ``validate`` in this process: ``python -m benchmarks.trials.one_machine MODEL TRIALS
AT_ONCE`` prints ``{"seconds", "processor"}``, from before the run is planned to its report.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from toolspan_bridge import Store, Suite, Toolbox, validate
from toolspan_bridge.providers.http.rate_limits import AdaptiveLimiters
from toolspan_bridge.providers.http.settings import HttpSettings
from toolspan_bridge.toolbox.servers import servers_of
from toolspan_bridge.validation import STORE_FILE, Asker
from toolspan_server.common.garbage_collector import frozen
from toolspan_server.config import load_config

from .setting import CONFIG, SUITE


async def main() -> None:
    """Make the trials."""
    model, trials, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    config, suite = load_config(CONFIG), Suite.model_validate(SUITE)
    settings = HttpSettings(connections=1_000, idle_connections=1_000, limiters=AdaptiveLimiters())
    async with (
        Toolbox.connect(servers_of(config)) as toolbox,
        Asker(config, toolbox, settings=settings) as asker,
    ):
        # collections of garbage are as the command has them
        with TemporaryDirectory() as folder, Store.open(Path(folder) / STORE_FILE) as store, frozen():
            began, spent = time.perf_counter(), time.process_time()
            report = await validate(
                [model],
                suite,
                asker.ask,
                store,
                trials=trials // len(suite.scenarios),
                concurrency=at_once,
                fingerprint_of=asker.fingerprint,
                served_of=asker.served,
            )
            seconds, processor = time.perf_counter() - began, time.process_time() - spent
            right = sum(trial.success for trial in store.trials(model))
    if not report.passed or right != trials:
        raise SystemExit(f"only {right} of {trials} trials are right")
    print(json.dumps({"seconds": seconds, "processor": processor}))


if __name__ == "__main__":
    anyio.run(main)
