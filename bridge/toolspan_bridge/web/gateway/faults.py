"""What went wrong with a request of the gateway, before an API writes it in its own shape."""

from __future__ import annotations

import logging

from ...errors import (
    AuthError,
    BridgeError,
    ConsentError,
    ContextOverflowError,
    ProviderError,
    StoreError,
    UnknownModelError,
    UnreachableError,
    UnvalidatedError,
    UsageError,
)
from ..keys.refusals import KeyRefusal

__all__ = ["RequestFault", "fault_in", "fault_of"]

_TOO_MANY = 429
_log = logging.getLogger(__name__)


class RequestFault(Exception):
    """A request that is not answered: ``status`` of HTTP, ``message`` for people, ``code`` for programs,
    ``param`` the member of the request that it is about, ``retry_after`` in seconds."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        code: str = "",
        param: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.param = param
        self.retry_after = retry_after


def fault_in(error: Exception) -> RequestFault:
    """What is told of ``error``. One that nobody expected goes to the program's log, whole, and the client is
    told its name alone."""
    if isinstance(error, RequestFault):
        return error
    if isinstance(error, BridgeError):
        return fault_of(error)
    _log.error("a request of the gateway failed", exc_info=error)
    why = f"{type(error).__name__} (the server's log says more)"
    return RequestFault(why, status=500, code="unexpected")


def fault_of(error: BridgeError) -> RequestFault:
    """``error`` as the client is told of it: 4xx for what the client can mend, 5xx for what it may try again.

    A provider's own 429 and 5xx stay what they are, so that clients wait and try again as with the provider;
    what is no status of an error in HTTP is 502.
    """
    match error:
        case KeyRefusal():
            return RequestFault(
                error.message, status=error.status, code=error.code, retry_after=error.retry_after
            )
        case UnknownModelError():
            return RequestFault(error.message, status=404, code="model_not_found", param="model")
        case ContextOverflowError():
            return RequestFault(error.message, code="context_length_exceeded", param="messages")
        case ProviderError():
            return RequestFault(
                error.message,
                status=_status(error.status),
                code=error.kind or error.code,
                retry_after=error.retry_after,
            )
        case UnreachableError():
            return RequestFault(error.message, status=502, code=error.code)
        case AuthError():
            return RequestFault(error.message, status=401, code="provider_auth")
        case StoreError():
            return RequestFault(error.message, status=503, code=error.code)
        case ConsentError() | UnvalidatedError():
            return RequestFault(error.message, status=403, code=error.code)
        case UsageError():
            return RequestFault(error.message, code=error.code)
        case _:
            return RequestFault(error.message, status=500, code=error.code)


def _status(status: int | None) -> int:
    if status is None:
        return 502
    if status == _TOO_MANY or 500 <= status < 600:
        return status
    return 400 if 400 <= status < 500 else 502
