"""Why a call over HTTP was ended before it had a result."""

from __future__ import annotations

from enum import Enum, auto


class End(Enum):
    """What ended a call."""

    LEFT = auto()
    CANCELLED = auto()
    SESSION_ENDED = auto()
    STOPPING = auto()
