"""Prompts: message templates that people select. ``live.Prompts`` are those of a config, live.

Configs without prompts import nothing of this package's other modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..config import Config
    from ..resources.live import Resources
    from .live import Prompts

__all__ = ["prompts_of"]


def prompts_of(config: Config, resources: Resources | None) -> Prompts | None:
    """The live prompts of ``config``, which may embed ``resources``; ``None`` without any."""
    if not config.prompts:
        return None
    from ..resources.errors import ResourceNotFound
    from .live import Prompts

    async def nothing(uri: str) -> dict[str, Any]:
        raise ResourceNotFound(uri)

    return Prompts(config, nothing if resources is None else resources.read)
