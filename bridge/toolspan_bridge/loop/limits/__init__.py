"""Limits of a question and of a conversation: calls, tokens, cost, time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .clock import Clock, TimeUp, timed
    from .limits import WHOLE, AtLimit, LimitChoice, LimitReached, Limits, LimitScope, amount_of
    from .watch import Watch

__all__ = [
    "WHOLE",
    "AtLimit",
    "Clock",
    "LimitChoice",
    "LimitReached",
    "LimitScope",
    "Limits",
    "TimeUp",
    "Watch",
    "amount_of",
    "timed",
]

_MODULES = {
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
