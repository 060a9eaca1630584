"""What went wrong with a request of the gateway, before an API writes it in its own shape."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import (
    AuthError,
    BridgeError,
    ConsentError,
    ContextOverflowError,
    Fault,
    ProviderError,
    StoreError,
    UnknownModelError,
    UnreachableError,
    UnvalidatedError,
    UsageError,
)
from ...events import Answer
from ..keys.refusals import KeyRefusal

__all__ = ["Overflow", "RequestFault", "fault_in", "fault_of", "fault_of_answer"]

_AS_THEY_ARE = frozenset({402, 404, 408, 409, 413, 429, 503, 504, 529})
_OF_THE_REQUEST = frozenset({400, 422})
_BUSY = frozenset({425, 498})
_TIMED_OUT = frozenset({522, 524, 598, 599})
"""What proxies answer where a server behind them takes too long."""
_OVERFLOW = "context_length_exceeded"
_AUTH_CODE = "provider_auth"
_AUTH = "The gateway's own key for the provider is missing or refused; yours is fine. {}"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Overflow:
    """A request that is longer than the model's context, which each API tells in its own words, as its
    clients act on them: the tokens ``counted``, those that the ``answer`` may have where it is both together
    that is too long, and the ``most`` that there may be, each where it is known."""

    counted: int | None = None
    answer: int | None = None
    most: int | None = None


class RequestFault(Exception):
    """A request that is not answered: ``status`` of HTTP, ``message`` for people, ``code`` for programs,
    ``param`` the member of the request that it is about, ``retry_after`` in seconds.

    ``retryable``: whether the same request may be answered later, ``None`` where the status says it;
    ``limits`` are a provider's headers about its limits of rate. ``overflow``: it is too long.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        code: str = "",
        param: str = "",
        retryable: bool | None = None,
        retry_after: float | None = None,
        limits: Mapping[str, str] | None = None,
        overflow: Overflow | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.param = param
        self.retryable = retryable
        self.retry_after = retry_after
        self.limits: Mapping[str, str] = limits or {}
        self.overflow = overflow


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

    A provider's failure is 502, 503 or 504, its 402, 408, 429 and 529 stay what they are; what of its 4xx is
    about the request is 400. That it refuses the gateway's key is 502: by a 401 the client would doubt its
    own.
    """
    match error:
        case KeyRefusal():
            return RequestFault(
                error.message, status=error.status, code=error.code, retry_after=error.retry_after
            )
        case UnknownModelError():
            return RequestFault(error.message, status=404, code="model_not_found", param="model")
        case ContextOverflowError():
            lengths = Overflow(error.counted_tokens, error.answer_tokens, error.maximum_tokens)
            return RequestFault(
                error.message, code=_OVERFLOW, param="messages", retryable=False, overflow=lengths
            )
        case ProviderError():
            return RequestFault(
                error.message,
                status=_status(error.status, error.fault, retryable=bool(error.retryable)),
                code=error.kind or error.code,
                param=error.parameter,
                retryable=error.retryable,
                retry_after=error.retry_after,
                limits=error.limits,
            )
        case UnreachableError():
            status = 504 if error.timed_out else 502
            return RequestFault(error.message, status=status, code=error.code, retryable=True)
        case AuthError():
            return RequestFault(_AUTH.format(error.message), status=502, code=_AUTH_CODE, retryable=False)
        case StoreError():
            return RequestFault(error.message, status=503, code=error.code)
        case ConsentError() | UnvalidatedError():
            return RequestFault(error.message, status=403, code=error.code)
        case UsageError():
            return RequestFault(error.message, code=error.code)
        case _:
            return RequestFault(error.message, status=500, code=error.code)


def fault_of_answer(answer: Answer) -> RequestFault:
    """An ``answer`` that is none, as the client is told of it."""
    why, failure = answer.reason or "The answer broke off.", answer.failure
    if failure is None:
        return RequestFault(why, status=502, code=answer.stop, retryable=True)
    if failure.status in (401, 403):
        return RequestFault(_AUTH.format(why), status=502, code=_AUTH_CODE, retryable=False)
    status = _status(failure.status, retryable=failure.retryable is not False)
    return RequestFault(why, status=status, code=failure.kind or answer.stop, retryable=failure.retryable)


def _status(status: int | None, fault: Fault = "other", *, retryable: bool) -> int:
    """The status that stands for a provider's: of a 4xx that may be answered later it is a failure there, and
    so is one that is about how it is asked, not what."""
    if fault == "content":
        return 400
    if fault == "credit" and status != 429:
        return 402
    if status in _AS_THEY_ARE:
        return status
    if status in _TIMED_OUT:
        return 504
    if status in _BUSY:
        return 503
    return 400 if status in _OF_THE_REQUEST and not retryable else 502
