"""How models stand: what the store beside a config proves of them with the tools that they would get now.

Everything that acts on validation (ask, chat, routes, the list of models) looks it up here.
"""

from __future__ import annotations

from .best_model import BEST, Candidate, best_of, candidates_of
from .better_mode import BetterMode, better_mode
from .failing_tools import FailingTool, failing_tools
from .present import present_of
from .standings import ModelStanding, ModeRecord, Standings

__all__ = [
    "BEST",
    "BetterMode",
    "Candidate",
    "FailingTool",
    "ModeRecord",
    "ModelStanding",
    "Standings",
    "best_of",
    "better_mode",
    "candidates_of",
    "failing_tools",
    "present_of",
]
