"""One line of the log for each call, of every kind of tool, at level INFO."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Mapping
from typing import Any

from ..calls.caller import client_of
from ..calls.client import InputRequired
from ..calls.results import ToolResult
from ..errors import RequestRefused

_log = logging.getLogger(__name__)


def is_wanted() -> bool:
    """Whether calls are logged: asked before each, so that a call costs nothing more where they are not."""
    return _log.isEnabledFor(logging.INFO)


async def logged(tool: str, meta: Mapping[str, Any], call: Awaitable[ToolResult]) -> ToolResult:
    """The result of ``call``, a call of ``tool`` with the request's ``meta``. Logged are what came of it, how
    many milliseconds it took, and the client's name and version as it gives them."""
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
        known = {"tool": tool, "outcome": outcome, "ms": taken, "client": client}
        _log.info("call of %r: %s in %.1f ms, client %r", tool, outcome, taken, client, extra=known)
    return result
