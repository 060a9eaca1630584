"""Refusals as the JSON-RPC errors that they are answered with."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, METHOD_NOT_FOUND

from ...errors import RequestRefused
from ..messages.wire import ProtocolFault
from ..state.running_calls import Busy
from ._progress import RequestContext

T = TypeVar("T")
_log = logging.getLogger(__name__)


@contextmanager
def refusals() -> Generator[None]:
    """Turn ``RequestRefused``, ``ProtocolFault`` and ``Busy`` into the SDK's ``MCPError``.

    So is an unexpected error, which the SDK would show to the client; the log has it.
    """
    try:
        yield
    except MCPError:
        raise
    except RequestRefused as refused:
        raise MCPError(code=refused.code, message=refused.message, data=refused.data) from None
    except ProtocolFault as fault:
        raise MCPError(code=fault.code, message=fault.message) from None
    except Busy as busy:
        raise MCPError(code=INTERNAL_ERROR, message=str(busy)) from None
    except Exception:
        _log.exception("a request could not be served")
        raise MCPError(code=INTERNAL_ERROR, message="Internal error") from None


def offered(found: T | None, context: RequestContext) -> T:
    """``found``, unless the config has none: then the method is refused as one that is not known."""
    if found is None:
        raise RequestRefused(METHOD_NOT_FOUND, "Method not found", context.method)
    return found
