"""Why a server is not there, in words for the person who set it up."""

from __future__ import annotations

import signal
from typing import cast

from ._results import PeerError, UnusableAnswer
from ._spec import ServerSpec, UnusableServer
from .child.process import Child

_OURS = (-signal.SIGTERM, -9)


def reason(fault: Exception | None, spec: ServerSpec, child: Child, *, answered: bool, timeout: float) -> str:
    """What happened and what to do. ``fault`` is ``None`` when the server was silent, or was lost later."""
    fault = _first(fault)
    if child.allowance.excess:
        return f"it was disconnected: {child.allowance.excess}"
    if isinstance(fault, UnusableServer):
        return str(fault)
    if spec.kind != "stdio":
        return _http_reason(fault, spec, child, answered=answered, timeout=timeout)
    if isinstance(fault, FileNotFoundError):
        return f'the command {spec.command[0]!r} was not found (install it, or correct "command")'
    if isinstance(fault, OSError):
        return f"cannot be started: {fault.strerror or fault}"
    closed = answered or (isinstance(fault, PeerError) and fault.is_end)
    if not closed:
        return _shared(fault, spec, timeout)
    ended = child.returncode is not None and child.returncode not in _OURS
    what = f"it exited with {_status(child.returncode or 0)}" if ended else "it closed its stdout"
    return what if answered else f"{what} before it answered"


def _http_reason(
    fault: Exception | None, spec: ServerSpec, child: Child, *, answered: bool, timeout: float
) -> str:
    import httpx2

    address = str(httpx2.URL(spec.url).copy_with(userinfo=b"", query=None, fragment=None))
    if isinstance(fault, httpx2.ConnectError | httpx2.ConnectTimeout):
        return f"nothing answers at {address} (start it, or correct the url)"
    if child.status in (401, 403):
        return f'{address} answered HTTP {child.status} (set the credentials that it wants in "headers")'
    if child.status is not None:
        return f"{address} answered HTTP {child.status} (is the url that of an MCP endpoint?)"
    if answered:
        return f"the connection to {address} was lost"
    return f"{address}: {_shared(fault, spec, timeout)}"


def _first(fault: Exception | None) -> Exception | None:
    while isinstance(fault, ExceptionGroup):
        fault = cast("ExceptionGroup[Exception]", fault).exceptions[0]
    return fault


def _shared(fault: Exception | None, spec: ServerSpec, timeout: float) -> str:
    if fault is None:
        more = " (limits.connect_seconds allows more)" if timeout == spec.connect_timeout else ""
        return f"no answer within {timeout:g} s{more}"
    if isinstance(fault, UnusableAnswer):
        return f"it does not speak MCP as expected: it {fault}"
    if isinstance(fault, PeerError):
        return f"it refused the connection: {fault.message}"
    return f"it does not speak MCP as expected: {type(fault).__name__}: {fault}"


def _status(returncode: int) -> str:
    if returncode >= 0:
        return f"status {returncode}"
    try:
        return f"signal {signal.Signals(-returncode).name}"
    except ValueError:
        return f"signal {-returncode}"
