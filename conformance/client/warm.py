"""``python -m conformance.client.warm SOCKET``: clients that are forks of a process which has imported all.

A suite starts its clients at once, and each would spend seconds of the processor on imports. Each client is a
process of its own, with the variables and streams of the ``launcher.py`` that asks for it. A few run at a
time, so that a client's own limits on time are about its server, not about the others.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import NoReturn

from . import scenario

_SIZE_BYTES = 8
_WAITING = 128
_AT_ONCE = max(2, os.cpu_count() or 2)
_PRELOADED = ("toolspan_bridge.oauth.flow", "toolspan_bridge.oauth.authorization", "mcp.client.auth")


def main(place: str) -> NoReturn:
    """Start a client for each connection to the socket at ``place``; ended by a signal."""
    for name in _PRELOADED:
        __import__(name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(_WAITING)
        print("ready", flush=True)
        running: set[int] = set()
        while True:
            asking, _ = listener.accept()
            while len(running) >= _AT_ONCE:
                running.discard(os.wait()[0])
            pid = os.fork()
            if pid == 0:
                listener.close()
                _serve(asking)
            running.add(pid)
            asking.close()


def _serve(asking: socket.socket) -> NoReturn:
    """Be the client that is asked for, from here to its end."""
    code = 1
    try:
        size, streams, _, _ = socket.recv_fds(asking, _SIZE_BYTES, 2)
        told = asking.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL).decode()
        for standard, stream in zip((1, 2), streams, strict=True):
            os.dup2(stream, standard)
            os.close(stream)
        url, *variables = told.split("\0")
        os.environ.clear()
        for variable in variables:
            name, _, value = variable.partition("=")
            os.environ[name] = value
        code = scenario.run(url)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    sys.stdout.flush()
    sys.stderr.flush()
    asking.sendall(bytes([code]))
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
