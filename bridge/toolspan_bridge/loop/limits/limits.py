"""What limits there are, and what is said of one that was reached."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from ...providers.prices import usd_text

LimitName = Literal["iterations", "calls", "tokens", "usd", "seconds", "repair_attempts", "repeats"]
LimitScope = Literal["question", "conversation"]

_OPTIONS = {
    "iterations": "--max-iterations",
    "calls": "--max-calls",
    "tokens": "--max-total-tokens",
    "usd": "--max-cost",
    "seconds": "--max-seconds",
}
_KEYS = {"iterations": "tools.max_iterations", "repair_attempts": "tools.repair_attempts"}


@dataclass(frozen=True, slots=True)
class Limits:
    """The most tool ``calls`` that are made, ``tokens`` (in and out, of all requests together), US dollars
    (``usd``) and ``seconds``, in which people are not waited for. ``None`` is no limit."""

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None


NO_LIMITS = Limits()

WHOLE = ("calls", "tokens", "iterations")
"""The limits that are whole numbers."""


def amount_of(name: str, text: str) -> float | None:
    """The number above 0 that ``text`` is, a whole one for ``calls``, ``tokens`` and ``iterations``; ``None``
    where it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < math.inf and (name not in WHOLE or value == int(value)) else None


@dataclass(frozen=True, slots=True)
class LimitReached:
    """A limit that was reached: its ``name`` and ``scope``, how much it allows, and how much was used.
    ``has_room``: a last turn is within all limits. ``wanted`` is what the next request may use, where it was
    not made for that reason."""

    name: LimitName
    scope: LimitScope
    limit: float
    used: float
    has_room: bool = True
    wanted: float | None = None

    @property
    def key(self) -> str:
        """Its place among the limits: ``question.calls``, ``conversation.usd``, ``iterations`` …"""
        return self.name if self.name in (*_KEYS, "repeats") else f"{self.scope}.{self.name}"

    @property
    def text(self) -> str:
        """That it was reached, and how it is raised, for people."""
        return f"{self.what} {self.remedy}".rstrip()

    @property
    def what(self) -> str:
        """That it was reached."""
        of = f"for this {self.scope}"
        match self.name:
            case "iterations":
                return f"The limit of {self.limit:,.0f} turns with tools for this question was reached."
            case "repair_attempts":
                return f"The arguments of the model's calls were wrong in more than {self.limit:g} turns."
            case "repeats":
                return "The model repeated calls that had brought nothing new."
            case "calls":
                return f"The limit of {self.limit:,.0f} tool calls {of} was reached."
            case "tokens":
                return f"The limit of {self.limit:,.0f} tokens {of} was reached ({self.used:,.0f} used)."
            case "usd":
                used = "unknown how much was" if math.isinf(self.used) else usd_text(self.used)
                reached = f"The limit of {usd_text(self.limit)} {of} was reached ({used} used"
                return f"{reached}{self._further})."
            case "seconds":
                return f"The limit of {self.limit:g} seconds {of} was reached."

    @property
    def _further(self) -> str:
        return "" if self.wanted is None else f", and the next request may cost {usd_text(self.wanted)}"

    @property
    def remedy(self) -> str:
        """How it is raised."""
        if self.name == "repeats":
            return ""
        if self.name in _KEYS:
            option = f"it with {_OPTIONS[self.name]}, or " if self.name in _OPTIONS else ""
            return f"Raise {option}{_KEYS[self.name]} in the config."
        key = f"limits.{self.scope}.{self.name}"
        if self.scope == "question":
            return f"Raise it with {_OPTIONS[self.name]}, or {key} in the config."
        return f"Raise it with --conversation-limit {self.name}=…, or {key} in the config."


LimitChoice = Literal["wrap_up", "stop"] | float
"""What becomes of a question at a limit: a last turn without tools, where the limit leaves room for one; no
further turn; or so much more than the limit (``math.inf``: no limit any more)."""

AtLimit = Callable[[LimitReached], Awaitable[LimitChoice]]
"""Asked before a turn that a limit forbids."""
