"""A process of its own with a document collection: ``python -m tests.support.collection_process HOME QUERY``.

It indexes ``HOME/docs``, searches, prints one line of JSON, and then stays until its stdin ends.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
import anyio.to_thread

from tests.support.document_collections import docs_of, sources


async def main(home: Path, query: str) -> None:
    async with docs_of(home) as docs:
        found = await sources(docs, query)
        assert docs.latest is not None
        print(json.dumps({"found": found, "problem": docs.latest.problem}), flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)
        print(json.dumps({"found": await sources(docs, query), "problem": docs.latest.problem}), flush=True)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2])
