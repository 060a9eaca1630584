"""A model validated in code: a config's tools over MCP, a suite, a store, and what is on record."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import anyio

from toolspan_bridge import (
    STORE_FILE,
    Asker,
    Store,
    Suite,
    Toolbox,
    build_records,
    servers_of,
    validate,
)
from toolspan_server import load_config

CONFIG = """
name: sums
tools:
  registry:
    - name: calculate
      description: Evaluate a mathematical expression
      parameters:
        type: object
        properties: {expression: {type: string, description: Math expression to evaluate}}
        required: [expression]
      implementation: {type: builtin, handler: math_eval}
"""
SUITE = Suite.model_validate(
    {
        "name": "sums",
        "scenarios": [
            {"query": "What is 12 times 7?", "expect": {"calls": [{"tool": "calculate"}], "answer": "84"}},
            {"query": "Good morning!", "expect": {"no_calls": True}},
        ],
    }
)


async def main() -> None:
    """Validate ``offline/keyword``, twice over; any ``provider/model`` works the same way."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / STORE_FILE) as store:
        path = Path(folder) / "toolspan.yaml"
        path.write_text(CONFIG)
        config = load_config(path)
        async with Toolbox.connect(servers_of(config)) as toolbox, Asker(config, toolbox) as asker:
            report = await validate(["offline/keyword"], SUITE, asker.ask, store, trials=2)
        print("passed" if report.passed else "failed")
        print(json.dumps(build_records(store.trials()), indent=2))


if __name__ == "__main__":
    anyio.run(main)
