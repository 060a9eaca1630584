"""How far a run is while it is made: a table that fills on a terminal, elsewhere a line now and then."""

from __future__ import annotations

from .shown import Shown, progress

__all__ = ["Shown", "progress"]
