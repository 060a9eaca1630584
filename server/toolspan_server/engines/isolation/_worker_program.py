"""A program that runs handlers, one call at a time, as messages on its standard input ask for.

What handlers print goes to standard error: the messages have descriptors that no child inherits.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

from ...common.modules.bytecode import import_from_source
from ._framing import Frames
from ._resource_limits import bound, on_lifeline

_CHUNK = 1 << 16


def claimed() -> tuple[BinaryIO, BinaryIO]:
    """Where messages come and go. Standard input is empty from now on, standard output is standard error."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return os.fdopen(incoming, "rb", 0), os.fdopen(outgoing, "wb", 0)


def main() -> None:
    """Read how to be, then serve until the server is gone."""
    lifeline = int(sys.argv[1]) if len(sys.argv) > 1 else None
    if lifeline is not None:
        on_lifeline(lifeline)
    incoming, outgoing = claimed()
    frames = Frames()
    while (start := frames.next()) is None:
        data = incoming.read(_CHUNK)
        if not data:
            return
        frames.feed(data)
    begin(start, frames, incoming, outgoing)


def begin(start: dict[str, Any], frames: Frames, incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Configure the process as ``start`` says, and serve."""
    sys.path[:] = start["path"]
    for root in start["from_source"]:
        import_from_source(Path(root))
    bound(start["memory_bytes"])
    from ._serving import Serving

    Serving(frames, incoming, outgoing, start["cpu_seconds"], start["result_bytes"]).run()


if __name__ == "__main__":
    main()
