"""Limits of a question and of a conversation: calls, tokens, cost, time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .account import Account, Held
    from .clock import Clock, TimeUp, timed
    from .limits import WHOLE, AtLimit, LimitChoice, LimitReached, Limits, LimitScope, amount_of
    from .spending import CostLimitError, Spending, spending_within
    from .watch import Watch

__all__ = [
    "WHOLE",
    "Account",
    "AtLimit",
    "Clock",
    "CostLimitError",
    "Held",
    "LimitChoice",
    "LimitReached",
    "LimitScope",
    "Limits",
    "Spending",
    "TimeUp",
    "Watch",
    "amount_of",
    "spending_within",
    "timed",
]

_MODULES = {
    "Account": ".account",
    "CostLimitError": ".spending",
    "Held": ".account",
    "Spending": ".spending",
    "spending_within": ".spending",
    "AtLimit": ".limits",
    "Clock": ".clock",
    "LimitChoice": ".limits",
    "LimitReached": ".limits",
    "LimitScope": ".limits",
    "Limits": ".limits",
    "TimeUp": ".clock",
    "WHOLE": ".limits",
    "Watch": ".watch",
    "amount_of": ".limits",
    "timed": ".clock",
}

if not TYPE_CHECKING:
    from toolspan_server.common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
