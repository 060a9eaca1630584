"""``median`` and what else is told of many numbers."""

from __future__ import annotations

from statistics import median as middle
from typing import Any

from ...calls.context import Context
from ...engines.registration import handler


@handler("median")
async def median(arguments: dict[str, Any], context: Context) -> dict[str, float]:
    """``{"numbers": [3, 1, 2]}`` → ``{"median": 2}``."""
    return {"median": middle(arguments["numbers"])}
