"""The socket that the HTTP server listens on."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from typing import cast

from ..errors import ServeError


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises ``ServeError`` with what to do."""
    family, address = _resolve(host, port)
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as fault:
        listener.close()
        raise ServeError(f"cannot listen on {host}:{port}: {_reason(fault)}") from None
    return listener


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches ``host``. Raises ``ServeError`` when it has no address."""
    return ipaddress.ip_address(str(_resolve(host, 0)[1][0]).partition("%")[0]).is_loopback


def authority(listener: socket.socket) -> str:
    """``host:port`` as in a URL."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise ServeError(
            f"--host {host!r} has no address: give an IP address or a name of this machine"
        ) from None
    family, _, _, _, address = found[0]
    return family, cast("tuple[str, int]", address)  # of IPv6 there are two more fields, which bind takes


def _reason(fault: OSError) -> str:
    if fault.errno == errno.EADDRINUSE:
        return "the port is taken (stop what uses it, or choose another with --port; 0 takes a free one)"
    if fault.errno == errno.EACCES:
        return "no permission (choose a port above 1023 with --port)"
    if fault.errno == errno.EADDRNOTAVAIL:
        return "this machine has no such address (correct --host)"
    return os.strerror(fault.errno) if fault.errno else str(fault)
