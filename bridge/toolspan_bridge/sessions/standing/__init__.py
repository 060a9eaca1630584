"""What a session makes of validation: whom it warns of, in which mode a model is asked, and with which
tools."""

from __future__ import annotations

from .best_models import BestModels
from .failing import FailingTools, OfferedTools
from .modes import Modes
from .unvalidated import Standing

__all__ = ["BestModels", "FailingTools", "Modes", "OfferedTools", "Standing"]
