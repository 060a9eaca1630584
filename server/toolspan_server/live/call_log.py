"""One line of the log for each call, of every kind of tool, at level INFO."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from ..calls.caller import client_of, principal_of_call
from ..calls.client import InputRequired
from ..calls.results import ToolResult
from ..errors import RequestRefused

if TYPE_CHECKING:
    from ..tools.registry import Tool

_log = logging.getLogger(__name__)


def is_wanted() -> bool:
    """Whether calls are logged: asked before each, so that a call costs nothing more where they are not."""
    return _log.isEnabledFor(logging.INFO)


async def logged(tool: Tool, meta: Mapping[str, Any], call: Awaitable[ToolResult]) -> ToolResult:
    """The result of ``call``, a call of ``tool`` with the request's ``meta``. Logged are what came of it, how
    many milliseconds it took, the upstream server that it went to (empty for none), the principal, and the
    client's name and version as it gives them."""
    started, outcome = time.perf_counter(), "cancelled"
    try:
        result = await call
        outcome = "ok" if result.success else result.error_code or "failed"
    except InputRequired:
        outcome = "input_required"
        raise
    except RequestRefused:
        outcome = "refused"
        raise
    finally:
        client, taken = client_of(meta), round((time.perf_counter() - started) * 1000, 1)
        server, who = tool.config.implementation.server, principal_of_call()
        known = {"tool": tool.name, "outcome": outcome, "ms": taken, "client": client}
        known |= {"server": server, "principal": who}
        at, by = f" at {server!r}" if server else "", f", for {who!r}" if who else ""
        message = "call of %r%s: %s in %.1f ms, client %r%s"
        _log.info(message, tool.name, at, outcome, taken, client, by, extra=known)
    return result
