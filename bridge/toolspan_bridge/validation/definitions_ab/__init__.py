"""One suite over two versions of tools' names, descriptions or schemas, and the difference that they make."""

from __future__ import annotations

from .comparison import DefinitionsCell, ModelDifference, differences
from .renames import Renames

__all__ = ["DefinitionsCell", "ModelDifference", "Renames", "differences"]
