"""How models stand: what the store beside a config proves of them with the tools that they would get now.

Everything that acts on validation (ask, chat, routes, the list of models) looks it up here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .best_model import Candidate, candidates_of
    from .failures_by_tool import FailingTool, failing_tools
    from .measured_modes import BetterMode, better_mode
    from .present import present_of
    from .standings import ModelStanding, ModeRecord, Standings

__all__ = [
    "BetterMode",
    "Candidate",
    "FailingTool",
    "ModeRecord",
    "ModelStanding",
    "Standings",
    "better_mode",
    "candidates_of",
    "failing_tools",
    "present_of",
]

_MODULES = {
    "BetterMode": ".measured_modes",
    "Candidate": ".best_model",
    "FailingTool": ".failures_by_tool",
    "ModeRecord": ".standings",
    "ModelStanding": ".standings",
    "Standings": ".standings",
    "better_mode": ".measured_modes",
    "candidates_of": ".best_model",
    "failing_tools": ".failures_by_tool",
    "present_of": ".present",
}

if not TYPE_CHECKING:
    from toolspan_server.common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
