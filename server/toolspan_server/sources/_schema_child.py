"""A program that judges JSON Schemas: one on each line of stdin, and for each a line on stdout.

The line is a JSON string: empty when the schema is right and quick to compile, else what is wrong with it.
A first line says that the program is ready. Whoever waits for it ends it when a schema takes too long.
"""

from __future__ import annotations

import json
import sys
import time

from toolspan_server.config._parameters import object_schema

QUICK_SECONDS = 0.05
"""How long a schema may take here: the server does the same at the first call, and nothing else meanwhile."""

_MEMORY_BYTES = 2 * 1024**3


def verdict(line: str) -> str:
    """What is wrong with the schema in ``line``, or nothing."""
    started = time.process_time()
    try:
        object_schema(json.loads(line))
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error)[:500] or type(error).__name__
    if time.process_time() - started > QUICK_SECONDS:
        return "it takes too long to compile"
    return ""


def main() -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    verdict('{"type": "object", "minProperties": 0}')
    _say("ready")
    for line in sys.stdin:
        _say(verdict(line))


def _say(text: str) -> None:
    sys.stdout.write(json.dumps(text) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
