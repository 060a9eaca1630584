"""A process that stores numbers for a tool and says which are stored, for tests that hinder or kill it.

    python storage_writer.py STORE PREFIX COUNT

``STORE`` is a folder, or the URL of a database. It says ``ready``, waits for a line, then adds ``PREFIX0`` …
to one list; a ``ToolFailure`` ends it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from toolspan_server import FileStore, ToolFailure, ToolStorage
from toolspan_server.engines.storage import SqlStore

PLACE = ("ann", "c-1", "tests")
PADDING = "x" * 2_000


def storage(store: str) -> ToolStorage:
    return ToolStorage(*PLACE, SqlStore(store, Path()) if "://" in store else FileStore(Path(store)))


def names(store: str | Path) -> list[str]:
    """What is stored."""
    return [each.split()[0] for each in storage(str(store)).get("names", [])]


def main() -> None:
    store, prefix, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    print("ready", flush=True)
    sys.stdin.readline()
    kept = storage(store)
    for number in range(count):
        name = f"{prefix}{number}"
        try:
            kept.update("names", lambda known, name=name: [*known, f"{name} {PADDING}"], default=[])
        except ToolFailure as failure:
            print(f"refused {failure}", flush=True)
            break
        print(f"written {name}", flush=True)
    print(f"kept {' '.join(names(store))}", flush=True)


if __name__ == "__main__":
    main()
