"""Conversations told once, in no provider's words: what the model says, and what must come of it.

``SCENARIOS`` are all of them by name. ``open_stages`` plays them over a format's real provider, its strict
fake on loopback, and tools in memory: see ``_stage``.
"""

from __future__ import annotations

from . import arguments, calls, results, talk
from ._model import Call, Round, Scenario, Thought, Turn
from ._stage import Stage, open_stages
from ._tool import Tool
from .places import PLACES
from .servers import canned

__all__ = [
    "PLACES",
    "SCENARIOS",
    "Call",
    "Round",
    "Scenario",
    "Stage",
    "Thought",
    "Tool",
    "Turn",
    "canned",
    "open_stages",
]

SCENARIOS: dict[str, Scenario] = {
    **calls.SCENARIOS,
    **arguments.SCENARIOS,
    **results.SCENARIOS,
    **talk.SCENARIOS,
}
