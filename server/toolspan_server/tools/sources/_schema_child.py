"""A program that checks JSON Schemas: one on each line of stdin, with a line of stdout for each.

The line is JSON: the verdict, which is empty when the schema is valid and quick to compile, else the error;
and the seconds of processor time that it took. A first line says that the program is ready. A schema that
takes more of them than its argument says ends the program; where the system cannot, its parent does.
"""

from __future__ import annotations

import json
import signal
import sys
import time

from toolspan_server.engines.isolation._resource_limits import bound, spend
from toolspan_server.engines.parameters._safe_schema import object_schema

QUICK_SECONDS = 0.05
"""How many seconds a schema may take here: the server compiles it again, blocking, at the first call."""

_MEMORY_BYTES = 2 * 1024**3
_CPU_SECONDS = 60
"""When the program ends itself, in CPU seconds: a limit far above the server's, in case that was killed."""


def verdict(line: str) -> str:
    """The error of the schema in ``line``, or an empty string."""
    started = time.process_time()
    try:
        object_schema(json.loads(line))
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error)[:500] or type(error).__name__
    if time.process_time() - started > QUICK_SECONDS:
        return "it takes too long to compile"
    return ""


def main() -> None:
    seconds = float(sys.argv[1])
    bound(_MEMORY_BYTES)
    spend(_CPU_SECONDS)
    verdict('{"type": "object", "minProperties": 0}')
    _say("ready", 0.0)
    for line in sys.stdin:
        started = time.process_time()
        _end_after(seconds)
        found = verdict(line)
        _end_after(0)
        _say(found, time.process_time() - started)


def _end_after(seconds: float) -> None:
    """Have the system end this process after so many seconds of processor time; after 0, not."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _say(text: str, seconds: float) -> None:
    sys.stdout.write(json.dumps([text, seconds]) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
