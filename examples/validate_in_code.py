"""A model validated in code: a suite, an ``ask``, a store that survives a kill, and the seed's record."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import anyio

from toolspan_bridge.events import Answer
from toolspan_bridge.messages import Usage
from toolspan_bridge.validation import STORE_FILE, Store, Suite, build_records, validate

SUITE = Suite.model_validate(
    {
        "name": "capitals",
        "scenarios": [{"query": "What is the capital of France?", "expect": {"answer": "Paris"}}],
    }
)


async def ask(model: str, query: str) -> Answer:
    """Stands for the loop: whatever gives an ``Answer`` can be validated."""
    return Answer("It is Paris.", model, "example", (), Usage(), 1)


async def main() -> None:
    """Run the suite twice over and print what is on record."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / STORE_FILE) as store:
        report = await validate(["example/model"], SUITE, ask, store, trials=2)
        print("passed" if report.passed else "failed")
        print(json.dumps(build_records(store.trials()), indent=2))


if __name__ == "__main__":
    anyio.run(main)
