"""One line of the log, at level INFO, for each call of a tool of any kind, and in an aggregate for each
resource that is read and each prompt that is got."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..calls.caller import Origin
from ..calls.client import InputRequired
from ..calls.results import ToolResult
from ..errors import RequestRefused
from ..resources.errors import ResourceNotFound, ResourceUnreadable

if TYPE_CHECKING:
    from ..tools.registry import Tool

_log = logging.getLogger(__name__)
_LONGEST_NAME = 500


@dataclass(slots=True)
class Line:
    """What came of it, and the upstream server that it went to; empty for none."""

    outcome: str = "cancelled"
    server: str = ""


def is_wanted() -> bool:
    """Whether calls are logged: asked before each, so that a call costs nothing more where they are not."""
    return _log.isEnabledFor(logging.INFO)


async def logged(
    tool: Tool, origin: Origin, meta: Mapping[str, Any], call: Awaitable[ToolResult]
) -> ToolResult:
    """The result of ``call``, a call of ``tool`` from ``origin`` with the request's ``meta``.

    Logged are what came of it, how many milliseconds it took, the upstream server that it went to (empty for
    none), the principal, and the client's name and version as it gives them.
    """
    with _line("tool", tool.name, origin, meta) as line:
        line.server = tool.config.implementation.server
        result = await call
        line.outcome = "ok" if result.success else result.error_code or "failed"
    return result


@contextmanager
def line_of(what: Literal["resource", "prompt"], name: str, origin: Origin) -> Generator[Line]:
    """A line of the log for the block, which reads a resource or gets a prompt for ``origin``."""
    if not is_wanted():
        yield Line()
        return
    with _line(what, name[:_LONGEST_NAME], origin, {}) as line:
        yield line
        line.outcome = "ok"


@contextmanager
def _line(what: str, name: str, origin: Origin, meta: Mapping[str, Any]) -> Generator[Line]:
    started, line = time.perf_counter(), Line()
    try:
        yield line
    except InputRequired:
        line.outcome = "input_required"
        raise
    except (RequestRefused, ResourceNotFound, ResourceUnreadable):
        line.outcome = "refused"
        raise
    finally:
        client, taken = origin.client_name(meta), round((time.perf_counter() - started) * 1000, 1)
        server, who = line.server, origin.principal or ""
        known = {what: name, "outcome": line.outcome, "ms": taken, "client": client}
        known |= {"server": server, "principal": who}
        at, by = f" at {server!r}" if server else "", f", for {who!r}" if who else ""
        of = "call of" if what == "tool" else what
        message = "%s %r%s: %s in %.1f ms, client %r%s"
        _log.info(message, of, name, at, line.outcome, taken, client, by, extra=known)
