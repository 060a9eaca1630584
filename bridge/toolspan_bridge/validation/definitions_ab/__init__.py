"""One suite over two versions of tools' names, descriptions or schemas, and the difference that they make."""

from __future__ import annotations

from .by_model import by_model
from .comparison import DefinitionsCell, ModelDifference, differences
from .held_out import halves
from .renames import Renames
from .rewording import Rewording, reworded
from .rules import by_rules

__all__ = [
    "DefinitionsCell",
    "ModelDifference",
    "Renames",
    "Rewording",
    "by_model",
    "by_rules",
    "differences",
    "halves",
    "reworded",
]
