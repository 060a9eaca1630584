"""Which deployments were asked for one answer, told as it happens."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

__all__ = ["Tried", "on_tried"]


@dataclass(frozen=True, slots=True)
class Tried:
    """One deployment (``provider/model``) and what came of it: it ``answered``, it ``failed`` for the
    ``reason`` in words, or it was ``skipped``, as it failed before. ``seconds`` are those it took."""

    deployment: str
    outcome: Literal["answered", "failed", "skipped"]
    reason: str = ""
    seconds: float = 0.0

    def as_dict(self) -> dict[str, str | float]:
        """``{"deployment", "outcome", "reason", "seconds"}``."""
        return {
            "deployment": self.deployment,
            "outcome": self.outcome,
            "reason": self.reason,
            "seconds": round(self.seconds, 3),
        }


on_tried: ContextVar[Callable[[Tried], None] | None] = ContextVar("on_tried", default=None)
"""Where it is set, it is called with each deployment that was asked or skipped, in order."""
