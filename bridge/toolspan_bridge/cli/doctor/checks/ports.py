"""The port of ``toolspan serve --transport http``: is it free?"""

from __future__ import annotations

import socket

from ..finding import Finding, ok, warning
from ..surroundings import Surroundings

ORDER = 70
PORT = 8808


async def check(around: Surroundings) -> list[Finding]:
    """Whether the default port on loopback can be listened at."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", PORT))
        except OSError as error:
            why = f"127.0.0.1:{PORT} cannot be listened at: {error.strerror}"
            return [warning(why, "serve at another: toolspan serve --transport http --port 0")]
    return [ok(f"127.0.0.1:{PORT} is free for toolspan serve --transport http")]
