"""Why a virtual key does not let a request through.

KeyRefusal
├── UnknownKeyError, ExpiredKeyError, RevokedKeyError          401
├── ModelNotAllowedError, ToolsetNotAllowedError               403
├── UnknownPriceError                                          403
├── BudgetExceededError                                        402
└── RateLimitedError                                           429
"""

from __future__ import annotations

from ...errors import BridgeError

__all__ = [
    "BudgetExceededError",
    "ExpiredKeyError",
    "KeyRefusal",
    "ModelNotAllowedError",
    "RateLimitedError",
    "RevokedKeyError",
    "ToolsetNotAllowedError",
    "UnknownKeyError",
    "UnknownPriceError",
]


class KeyRefusal(BridgeError):
    """A request that its key does not allow. ``status`` is HTTP's; ``retry_after`` the seconds after which
    the same request may be let through, ``None`` where time changes nothing or it is not known."""

    code = "key_refused"
    exit_code = 3
    status = 403

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UnknownKeyError(KeyRefusal):
    """No such key was ever made here."""

    code = "unknown_key"
    status = 401


class ExpiredKeyError(KeyRefusal):
    """The key's time is over."""

    code = "expired_key"
    status = 401


class RevokedKeyError(KeyRefusal):
    """The key was revoked."""

    code = "revoked_key"
    status = 401


class ModelNotAllowedError(KeyRefusal):
    """The model is none of the key's."""

    code = "model_not_allowed"


class ToolsetNotAllowedError(KeyRefusal):
    """The toolset is none of the key's."""

    code = "toolset_not_allowed"


class UnknownPriceError(KeyRefusal):
    """The key has a budget, and what the model costs is not known."""

    code = "unknown_price"


class BudgetExceededError(KeyRefusal):
    """What the request may cost is more than what is left of a budget."""

    code = "budget_exceeded"
    status = 402


class RateLimitedError(KeyRefusal):
    """Too many requests or tokens within a minute, or what is left of a budget is held by others."""

    code = "rate_limited"
    status = 429
