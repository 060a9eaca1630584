"""What of a provider's errors lets another deployment answer, and what is told when none did."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import BridgeError, ProviderError, UnreachableError
from .tried import Tried

__all__ = ["asked_wait", "is_overflow", "is_passing", "none_left"]

_PASSING = frozenset({408, 425, 429})
_UNAVAILABLE = 503


def is_passing(error: BridgeError) -> bool:
    """Whether another deployment may answer where this one did not: it was too busy, failed, was not reached,
    did not answer as its API does, or its account has no credit. A request that is wrong, or a key that is
    refused, is none of these."""
    if isinstance(error, UnreachableError):
        return True
    if isinstance(error, ProviderError) and error.fault == "credit":
        return True
    if not isinstance(error, ProviderError) or error.fault != "other" or error.code != ProviderError.code:
        return False
    status = error.status
    return status is None or status in _PASSING or status >= 500 or 200 <= status < 300


def is_overflow(error: BridgeError) -> bool:
    """Whether the request is longer than the model's context."""
    return isinstance(error, ProviderError) and error.fault == "context_overflow"


def asked_wait(error: BridgeError) -> float | None:
    """The seconds that the provider asks to wait, if it does."""
    return error.retry_after if isinstance(error, ProviderError) else None


def none_left(model: str, tried: Sequence[Tried], last: BridgeError | None, wait: float) -> BridgeError:
    """The error where no deployment of ``model`` answered; one may be asked again in ``wait`` seconds."""
    what = "; ".join(f"{each.deployment}: {each.reason}" for each in tried)
    message = f"no deployment of {model} answers: {what}"
    if isinstance(last, UnreachableError):
        return UnreachableError(message, timed_out=last.timed_out)
    status = last.status if isinstance(last, ProviderError) else None
    kind = last.kind if isinstance(last, ProviderError) else ""
    after = wait if wait > 0 or last is None else asked_wait(last)
    known = last if isinstance(last, ProviderError) else None
    return ProviderError(
        message,
        status=status or _UNAVAILABLE,
        kind=kind,
        retryable=known.retryable if known else True,
        retry_after=after,
        limits=known.limits if known else None,
    )
